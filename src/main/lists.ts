import { learningFile } from "../adapters/lists/learning-file.ts";
import { writeLearned } from "../adapters/lists/learned-file.ts";
import { listFolder } from "../adapters/lists/list-copy.ts";
import { createListRefresher } from "../adapters/lists/list-refresher.ts";
import type { FetchedSource } from "../adapters/lists/list-sources.ts";
import {
  createLiveOperatorLists,
  type LiveOperatorLists,
} from "../adapters/lists/live-operator-lists.ts";
import { type LoadedLists, loadLists } from "../adapters/lists/load-lists.ts";
import { namesOfTable } from "../adapters/lists/name-table.ts";
import {
  attachDatasets,
  packMailServers,
  type SharedDatasets,
} from "../adapters/lists/shared-datasets.ts";
import { createOutbound } from "../adapters/outbound/outbound.ts";
import { createProxiedHttp } from "../adapters/outbound/proxied.ts";
import { sqlOperatorEntries } from "../adapters/sql/operator-entries.ts";
import { sqlReports } from "../adapters/sql/reports.ts";
import { sqlVerdictCounts } from "../adapters/sql/verdict-counts.ts";
import { createAddressHash } from "../adapters/system/address-hash.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemIds as ids } from "../adapters/system/ids.ts";
import { loadSecretKey } from "../adapters/system/secrets.ts";
import type { SqlDatabase } from "../adapters/sql/database.ts";
import { dayOf } from "../core/calendar.ts";
import type { Datasets } from "../core/datasets.ts";
import type { Lookup } from "../core/lookup.ts";
import type { Validation } from "../core/validate.ts";
import type { ListMetrics, ListRefresh } from "../ports/list-refresh.ts";
import type { Log } from "../ports/log.ts";
import type { Outbound } from "../ports/outbound.ts";
import type { VerdictCounts } from "../ports/verdict-counts.ts";
import { createBackTest, type RunBackTest } from "../service/back-test.ts";
import { createMailServerLearner } from "../service/mail-server-learner.ts";
import { createOperatorListService, type OperatorListService } from "../service/operator-lists.ts";
import { createReportService, type ReportService } from "../service/reports.ts";
import { createVerdictRecorder, VERDICT_DAYS } from "../service/verdict-recorder.ts";
import type { Config } from "./config.ts";

/** All that is known of names, kept fresh, and what the operator and clients do about it. */
export interface Lists {
  /** What is known now; take it anew for each check. */
  readonly datasets: () => Datasets;
  readonly version: () => number;
  /** What `datasets` reads, for threads that attach to it too. */
  readonly shared: () => SharedDatasets;
  /** `listener` is called with every new `shared`. */
  readonly onShared: (listener: (shared: SharedDatasets) => void) => void;
  readonly operator: OperatorListService;
  readonly reports: ReportService;
  readonly backTest: RunBackTest;
  readonly refresh: ListRefresh;
  /** Of each fresh verdict: counted for back-tests, and heard before a mail server is accused. */
  readonly observe: (validation: Pick<Validation, "result" | "mail">) => void;
  /** Deletes what is kept no longer; to be called daily. */
  readonly prune: () => Promise<void>;
  /** `serving`: fetches and learns too, unless GATEPOST_LISTS_REFRESH is off. */
  readonly start: (where: "serving" | "following") => void;
  /** Waits for what runs and writes what waits; leaves no timer. */
  readonly stop: () => Promise<void>;
}

type ListsConfig = Pick<
  Config,
  | "dataDir"
  | "secretKey"
  | "listsRefresh"
  | "listsMirror"
  | "httpsProxy"
  | "httpProxy"
  | "noProxy"
  | "outboundAllow"
>;

export interface ListsParts {
  readonly sql: Pick<SqlDatabase, "db">;
  /** A DNS client of its own profile, so that learning holds up no check. */
  readonly lookup: Pick<Lookup, "mx" | "addresses">;
  readonly log: Log;
  readonly metrics?: ListMetrics;
}

const SOURCES_URL = "https://raw.githubusercontent.com";

const urlOf =
  ({ listsMirror }: ListsConfig) =>
  ({ id, path }: Pick<FetchedSource, "id" | "path">): string =>
    listsMirror === undefined ? `${SOURCES_URL}/${path}` : `${listsMirror}/${id}`;

function httpOf(config: ListsConfig, { lookup }: ListsParts): Outbound["http"] {
  const outbound = createOutbound({
    addresses: (host) => lookup.addresses(host),
    clock,
    allowed: config.outboundAllow ?? [],
  });
  const direct: Outbound["http"] = (question) => outbound.http(question);
  const { httpsProxy: https, httpProxy: http, noProxy = [] } = config;
  return createProxiedHttp({ https, http, direct: noProxy }, { direct, clock });
}

/** Data that changes as one: every change gives `datasets` a new version. */
class Holder {
  #shared: SharedDatasets;
  #datasets: Datasets;
  readonly #live: LiveOperatorLists;
  readonly #listeners: ((shared: SharedDatasets) => void)[] = [];

  constructor({ shared }: LoadedLists, live: LiveOperatorLists) {
    this.#shared = shared;
    this.#live = live;
    this.#datasets = attachDatasets(shared, live.current());
  }

  get datasets(): Datasets {
    return this.#datasets;
  }

  get shared(): SharedDatasets {
    return this.#shared;
  }

  /** Takes new data, or the operator's changed word on the same: microseconds of work. */
  change(shared: SharedDatasets = this.#shared): void {
    const version = this.#datasets.version + 1;
    this.#shared = shared;
    this.#datasets = { ...attachDatasets(shared, this.#live.current()), version };
    for (const listener of this.#listeners) listener(shared);
  }

  listen(listener: (shared: SharedDatasets) => void): void {
    this.#listeners.push(listener);
  }
}

/** Reads what lies in the data directory, the packages and the database; nothing is fetched yet. */
export async function openLists(config: ListsConfig, parts: ListsParts): Promise<Lists> {
  const { log } = parts;
  const { db } = parts.sql;
  const folder = listFolder(config.dataDir);
  const loaded = loadLists(folder);
  const hash = createAddressHash(loadSecretKey(config.secretKey, config.dataDir));
  const entries = sqlOperatorEntries(db);
  const counts = sqlVerdictCounts(db);
  const live = createLiveOperatorLists({ entries, hash, clock, log });
  await live.refresh();
  const holder = new Holder(loaded, live);
  const datasets = (): Datasets => holder.datasets;
  const operator = createOperatorListService({ entries, hash, clock });
  const reports = createReportService({ reports: sqlReports(db), operator, hash, ids, clock });
  const jobs = openJobs(config, parts, { loaded, holder, live, counts });
  return {
    datasets,
    version: () => holder.datasets.version,
    shared: () => holder.shared,
    onShared: (listener) => holder.listen(listener),
    operator,
    reports,
    backTest: createBackTest({ entries, counts, datasets, hash, clock }),
    async prune() {
      await entries.prune(clock.nowMs());
      await counts.prune(dayOf(clock.nowMs()) - VERDICT_DAYS + 1);
      await reports.prune();
    },
    ...jobs,
  };
}

interface Held {
  readonly loaded: LoadedLists;
  readonly holder: Holder;
  readonly live: LiveOperatorLists;
  readonly counts: VerdictCounts;
}

/** What goes on beside the checks: following the operator, fetching, learning, counting. */
function openJobs(
  config: ListsConfig,
  parts: ListsParts,
  { loaded, holder, live, counts }: Held,
): Pick<Lists, "refresh" | "observe" | "start" | "stop"> {
  const { log, metrics } = parts;
  const folder = listFolder(config.dataDir);
  const recorder = createVerdictRecorder({ counts, clock, log });
  const http = httpOf(config, parts);
  const given = metrics === undefined ? {} : { metrics };
  const common = { folder, urlOf: urlOf(config), http, clock, ids, log, loaded };
  const refresher = createListRefresher({ ...common, ...given });
  const learner = createMailServerLearner({
    names: () => namesToLearnFrom(holder.shared),
    lookup: parts.lookup,
    store: learningFile(folder),
    clock,
    log,
    learned(servers) {
      writeLearned(folder, servers);
      holder.change({ ...holder.shared, mailServers: packMailServers(servers) });
    },
  });
  return {
    refresh: refresher,
    observe(validation) {
      recorder.record(validation);
      const { result, mail } = validation;
      // What is called disposable already, by a learned host above all, would testify against its own server.
      if (mail !== undefined && !result.disposable) learner.observe(result.domain, mail);
    },
    start(where) {
      const fetches = where === "serving" && config.listsRefresh === "daily";
      live.start(() => holder.change());
      refresher.start({ swap: ({ shared }) => holder.change(shared), fetches });
      if (fetches) learner.start();
    },
    async stop() {
      live.stop();
      await Promise.all([refresher.stop(), learner.stop()]);
      await recorder.flush();
    },
  };
}

/** Names of curated lists, and free providers as the counter-check: a host with theirs is nobody's fingerprint. */
function* namesToLearnFrom(shared: SharedDatasets) {
  const curated = shared.sources.reduce(
    (bits, list, bit) => bits | (list.curated ? 1 << bit : 0),
    0,
  );
  for (const [name, bits] of namesOfTable(shared.disposable)) {
    if ((bits & curated) !== 0) yield { name, listed: true };
  }
  for (const [name] of namesOfTable(shared.knownGood)) yield { name, listed: false };
}
