import { listFolder } from "../../lists/files/feed-copy.ts";
import { type FeedSharing, shareLists, unsharedLists } from "../../lists/refresh/feed-sharing.ts";
import { type LiveRules, createLiveRules } from "../../lists/refresh/live-rules.ts";
import type { LoadedLists } from "../../lists/load/pack-lists.ts";
import { FETCHED_SOURCES } from "../../lists/sources/feed-sources.ts";
import { type SharedDatasets, attachDatasets } from "../../lists/table/shared-datasets.ts";
import { sqlDomainMails } from "../../lists/domain-mail.ts";
import { sqlRules } from "../../lists/rules/rule.ts";
import { sqlVerdictCounts } from "../../lists/verdict-counts.ts";
import { createAddressHash } from "../../base/address-hash.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import { inTime } from "../../base/in-time.ts";
import type { FeedRefresh } from "../../lists/feed-refresh.ts";
import {
  type BackTestDeps,
  type RunBackTest,
  createBackTest,
} from "../../lists/rules/back-test.ts";
import { type RuleService, createRuleService } from "../../lists/rules/rules.ts";
import { type FeedJobs, type ListsParts, openFeedJobs } from "./feed-jobs.ts";
import { openOwnTraffic } from "./own-traffic.ts";
import type { Process } from "../process/open-process.ts";
import { openDns } from "../parts/dns.ts";
import type { AccountStore } from "../parts/backing/store.ts";
import { sharedByConfig } from "./shared-feeds.ts";
import { openSecretKey } from "../settings/secret-key.ts";

/** All that is known of names, kept fresh, and what the operator and clients do about it. */
export interface Lists extends FeedJobs {
  /** What is known now; take it anew for each check. */
  readonly datasets: () => Datasets;
  readonly version: () => number;
  /** What `datasets` reads, for threads that attach to it too. */
  readonly shared: () => SharedDatasets;
  /** `listener` is called with every new `shared`. */
  readonly onShared: (listener: (shared: SharedDatasets) => void) => void;
  readonly operator: RuleService;
  readonly backTest: RunBackTest;
  /** Deletes what is kept no longer; to be called daily. */
  readonly prune: () => Promise<void>;
}

/** Data that changes as one: every change gives `datasets` a new version. */
class Holder {
  #shared: SharedDatasets;
  #datasets: Datasets;
  readonly #live: LiveRules;
  readonly #listeners: ((shared: SharedDatasets) => void)[] = [];

  constructor({ shared }: LoadedLists, live: LiveRules) {
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

/** A start waits no longer for what other machines have; it comes later then. */
const FIRST_SYNC_MS = 10_000;

/** What other machines share lies in the data directory when it resolves, if their store answers in time. */
async function openSharing(
  folder: string,
  { clock, ids, log }: Process,
  { shared }: ListsParts,
): Promise<FeedSharing> {
  if (shared === undefined) return unsharedLists;
  const { files, tell } = shared;
  const sharing = shareLists({ folder, files, clock, ids, log, tell });
  const patience = { timeoutMs: FIRST_SYNC_MS, late: undefined, clock: shared.clock ?? clock };
  await inTime(sharing.sync(), patience);
  return sharing;
}

/**
 * Reads what lies in the data directory, the packages and the database, and what other machines share; nothing is
 * fetched yet.
 */
export async function openLists(process: Process, parts: ListsParts): Promise<Lists> {
  const { config, machine, clock, log } = process;
  const { notices } = parts;
  const told = notices === undefined ? {} : { notices };
  const { db } = parts.sql;
  const folder = listFolder(config.dataDir);
  const sharing = await openSharing(folder, process, parts);
  const loaded = machine.loadLists(folder);
  const secretKey = await openSecretKey(config, parts.sql);
  const hash = createAddressHash(secretKey);
  const entries = sqlRules(db);
  const mails = sqlDomainMails(db);
  const traffic = openOwnTraffic({ sql: parts.sql, clock, log });
  const live = createLiveRules({ entries, hash, clock, log, ...told });
  await live.refresh();
  const holder = new Holder(loaded, live);
  const feeds = FETCHED_SOURCES.map(({ id }) => id);
  const operator = createRuleService({ entries, hash, clock, feeds, ...told });
  const jobs = openFeedJobs(process, parts, {
    loaded,
    sharing,
    shared: () => holder.shared,
    change: (shared) => holder.change(shared),
    live,
    mails,
    traffic,
  });
  return {
    datasets: () => holder.datasets,
    version: () => holder.datasets.version,
    shared: () => holder.shared,
    onShared: (listener) => holder.listen(listener),
    operator,
    backTest: backTestOf(holder, { entries, counts: sqlVerdictCounts(db), mails, hash, clock }),
    async prune() {
      await entries.prune(clock.nowMs());
      await traffic.prune();
    },
    ...jobs,
    refresh: withSwitches(jobs.refresh, live),
  };
}

const backTestOf = (holder: Holder, deps: Omit<BackTestDeps, "datasets">): RunBackTest =>
  createBackTest({ ...deps, datasets: () => holder.datasets });

/** The status of a feed says too whether the operator switched it off. */
const withSwitches = (refresh: FeedRefresh, live: LiveRules): FeedRefresh => ({
  refresh: (confirmed) => refresh.refresh(confirmed),
  async status() {
    const rules = live.current();
    return (await refresh.status()).map((feed) => ({ ...feed, isOff: rules.isFeedOff(feed.id) }));
  },
});

/** For a command: with a DNS client of its own. */
export function openStoredLists(process: Process, store: AccountStore): Promise<Lists> {
  const { config, machine, closing } = process;
  const lookup = openDns(config, "bulk", { machine });
  closing.add(() => lookup.close());
  const { sql, notices } = store;
  return openLists(process, { sql, lookup, notices, ...sharedByConfig(config, store) });
}
