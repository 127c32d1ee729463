import { createAddressHash } from "../base/secrets.ts";
import { dayOf } from "../core/calendar.ts";
import type { Datasets, Rules } from "../core/evidence/datasets.ts";
import type { DnsLookup } from "../dns/lookup.ts";
import { DomainMails, pagesOf } from "../lists/domain-mails.ts";
import { FeedFiles } from "../lists/feed-files.ts";
import { type FeedRefresh, FeedRefresher } from "../lists/feed-refresher.ts";
import { FETCHED_SOURCES } from "../lists/feed-sources.ts";
import type { FeedStatus } from "../lists/feed-status.ts";
import { MailServerLearner } from "../lists/mail-server-learner.ts";
import { LiveRules } from "../lists/rules/live-rules.ts";
import { RuleStore } from "../lists/rules/rule.ts";
import { RuleService } from "../lists/rules/rules.ts";
import {
  attachDatasets,
  type SharedDatasets,
  attachNameTable,
  namesOfTable,
} from "../lists/shared-datasets.ts";
import { MAIL_DAYS, MAIL_DOMAINS_KEPT, MailRecorder } from "../lists/mail-recorder.ts";
import type { Outbound } from "../outbound/outbound-types.ts";
import type { SqlDatabase } from "../store/database.ts";
import type { Duties } from "../store/elections.ts";
import type { Notices } from "../store/notices.ts";
import { isDnsOff, openDns } from "./checker.ts";
import { flushLast, type Process } from "./process.ts";
import { type AccountStore, openSecretKey } from "./store.ts";

export function openMailRecorder(
  process: Pick<Process, "clock" | "log" | "closing">,
  db: SqlDatabase["db"],
): MailRecorder {
  const { clock, log } = process;
  const recorder = new MailRecorder({ mails: new DomainMails(db), clock, log });
  flushLast(process, "domain_mail.flush_failed", recorder);
  return recorder;
}

/** All that is known of names, under the operator's rules: every change gives `datasets` a new version. */
export class KnownNames {
  readonly #live: LiveRules;
  readonly #listeners: ((shared: SharedDatasets) => void)[] = [];
  shared: SharedDatasets;
  datasets: Datasets;

  constructor(shared: SharedDatasets, live: LiveRules) {
    this.#live = live;
    this.shared = shared;
    this.datasets = attachDatasets(shared, live.current());
  }

  change(shared = this.shared): void {
    const version = this.datasets.version + 1;
    this.shared = shared;
    this.datasets = { ...attachDatasets(shared, this.#live.current()), version };
    for (const listener of this.#listeners) listener(shared);
  }

  listen(listener: (shared: SharedDatasets) => void): void {
    this.#listeners.push(listener);
  }
}

interface ListsParts {
  readonly sql: Pick<SqlDatabase, "db">;
  /** A DNS client of its own profile, so that learning holds up no check. */
  readonly lookup: Pick<DnsLookup, "mx" | "addresses" | "everyAddress">;
  readonly counted?: (id: string, outcome: string) => void;
  readonly notices?: Notices;
}

function httpOf({ config, machine, clock }: Process, { lookup }: ListsParts): Outbound["http"] {
  const {
    outboundAllow: allowed,
    httpsProxy: https,
    httpProxy: http,
    noProxy: direct = [],
  } = config;
  const addresses = (host: string) => lookup.everyAddress(host);
  const proxies = { https, http, direct };
  return machine.openOutbound({ addresses, clock, allowed, proxies }).http;
}

function openRefresher(
  process: Process,
  parts: ListsParts,
  live: LiveRules,
): Promise<FeedRefresher> {
  const { config, machine, clock, log } = process;
  const { listsMirror } = config;
  return FeedRefresher.open({
    files: new FeedFiles(parts.sql.db),
    urlOf: ({ id, path }) =>
      listsMirror === undefined
        ? `https://raw.githubusercontent.com/${path}`
        : `${listsMirror}/${id}`,
    http: httpOf(process, parts),
    clock,
    log,
    counted: parts.counted,
    load: machine.loadLists,
    tell: () => parts.notices?.tell("lists"),
    isOff: (id) => live.current().isFeedOff(id),
  });
}

/** Reads what lies in the packages and the database; nothing is fetched yet, and nothing runs. */
export async function openLists(process: Process, parts: ListsParts) {
  const { config, clock, log, closing } = process;
  const { notices, sql, lookup } = parts;
  const { db } = sql;
  const hash = createAddressHash(await openSecretKey(config, sql));
  const [entries, mails] = [new RuleStore(db), new DomainMails(db)];
  const told = notices === undefined ? {} : { notices };
  const live = new LiveRules({ entries, hash, clock, log, ...told });
  await live.refresh();
  const refresher = await openRefresher(process, parts, live);
  const known = new KnownNames(refresher.loaded.shared, live);
  const datasets = (): Datasets => known.datasets;
  const recorder = openMailRecorder(process, db);
  const learner = new MailServerLearner({
    names: () => namesToLearnFrom(known.shared, live.current()),
    ownTraffic: () => honestMail(mails, () => known.shared),
    lookup,
    files: new FeedFiles(db),
    clock,
    log,
    learned: (servers) => refresher.learned(servers),
  });
  closing.add(async () => {
    live.stop();
    await Promise.all([refresher.stop(), learner.stop()]);
  });
  const feeds = FETCHED_SOURCES.map(({ id }) => id);
  return {
    /** What is known now; take it anew for each check. */
    datasets,
    shared: () => known.shared,
    onShared: (listener: (shared: SharedDatasets) => void) => known.listen(listener),
    recorder,
    operator: new RuleService({ entries, hash, clock, feeds, ...told }),
    refresh: refresher as FeedRefresh,
    feeds: () => refresher.statusNow(),
    /** Fetching and learning, by one process at a time; none if GATEPOST_LISTS_REFRESH is off. */
    duties: config.listsRefresh === "daily" ? dutiesOf(refresher, learner, isDnsOff(config)) : {},
    start() {
      refresher.follow((fresh) => known.change(fresh.shared));
      live.start(() => {
        known.change();
        void refresher.lookLogged();
      });
    },
    async prune() {
      await entries.prune(clock.nowMs());
      await mails.prune(dayOf(clock.nowMs()) - MAIL_DAYS + 1, MAIL_DOMAINS_KEPT);
    },
  };
}

export type ServedLists = Awaited<ReturnType<typeof openLists>>;

function dutiesOf(
  refresher: FeedRefresher,
  learner: MailServerLearner,
  isWithoutDns: boolean,
): Duties {
  const list_refresh = () => Promise.resolve(refresher.fetch());
  if (isWithoutDns) return { list_refresh };
  const learning = () => {
    learner.start();
    return Promise.resolve(() => learner.stop());
  };
  return { list_refresh, learning };
}

export function openStoredLists(
  process: Process,
  { sql, notices }: AccountStore,
): Promise<ServedLists> {
  const lookup = openDns(process.config, "bulk", process);
  return openLists(process, { sql, lookup, notices });
}

export async function readFeeds(
  process: Process,
  sql: ListsParts["sql"],
): Promise<readonly FeedStatus[]> {
  const { clock, log, closing } = process;
  const unasked = (): never => {
    throw new Error("nothing is fetched here");
  };
  const lookup = { mx: unasked, addresses: unasked, everyAddress: unasked };
  const hash = createAddressHash(new Uint8Array(32)); // addresses are not asked for
  const live = new LiveRules({ entries: new RuleStore(sql.db), hash, clock, log });
  await live.refresh();
  const refresher = await openRefresher(process, { sql, lookup }, live);
  closing.add(() => refresher.stop());
  return refresher.status();
}

/** Names of curated lists that are on, and free providers as the cross-check: a host with theirs identifies no operator. */
function* namesToLearnFrom(shared: SharedDatasets, rules: Rules) {
  const curated = shared.sources.reduce(
    (bits, { id, kind }, bit) => bits | (kind === "curated" && !rules.isFeedOff(id) ? 1 << bit : 0),
    0,
  );
  for (const [name] of namesOfTable(shared.disposable, curated)) yield { name, listed: true };
  for (const [name] of namesOfTable(shared.knownGood)) yield { name, listed: false };
}

/** Own traffic that speaks for its mail servers: no domain that was called disposable, or is listed by now. */
async function* honestMail(mails: Pick<DomainMails, "page">, inUse: () => SharedDatasets) {
  for await (const page of pagesOf((after, limit) => mails.page(after, limit), 1_000)) {
    const listed = attachNameTable(inUse().disposable);
    yield page.filter(({ domain, disposable }) => !disposable && listed.sourcesOf(domain) === 0);
  }
}
