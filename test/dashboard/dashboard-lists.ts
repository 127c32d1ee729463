import { RuleStore } from "../../src/lists/rules/rule.ts";
import { createAddressHash } from "../../src/base/secrets.ts";
import type { AccountStore } from "../../src/main/store.ts";
import type { FeedRefresh } from "../../src/lists/feed-refresher.ts";
import type { FeedStatus, RefreshOutcome } from "../../src/lists/feed-status.ts";
import { RuleService } from "../../src/lists/rules/rules.ts";
import { realClock as clock } from "../time/real-clock.ts";

export interface DashboardLists {
  readonly operator: RuleService;
  readonly refresh: FeedRefresh;
  /** The lists that the last refresh had to accept. */
  accepted: readonly string[];
  /** The result of the next refresh, and the sources. */
  outcomes: readonly RefreshOutcome[];
  sources: readonly FeedStatus[];
}

/** The services of lists on the store of a dashboard; sources are a literal. */
export function rulesOf(store: AccountStore): DashboardLists {
  const { db } = store.sql;
  const hash = createAddressHash(new Uint8Array(32).fill(7));
  const entries = new RuleStore(db);
  const operator = new RuleService({
    entries,
    hash,
    clock,
    feeds: SOURCES.map(({ id }) => id),
  });
  const lists: DashboardLists = {
    operator,
    sources: SOURCES,
    accepted: [],
    outcomes: SOURCES.map(({ id }) => ({ id, kind: "unchanged" })),
    refresh: {
      status: () => Promise.resolve(lists.sources),
      refresh: (confirmed?: readonly string[]) => {
        lists.accepted = confirmed ?? [];
        return Promise.resolve(lists.outcomes);
      },
    },
  };
  return lists;
}

const HOUR_MS = 3_600_000;

const SOURCES: readonly FeedStatus[] = [
  {
    id: "curated-one",
    curated: true,
    names: 72_341,
    from: "fetch",
    fetchedAtMs: clock.nowMs() - 6 * HOUR_MS,
    askedAtMs: clock.nowMs() - HOUR_MS,
  },
  {
    id: "halved",
    curated: false,
    names: 9_120,
    from: "fetch",
    fetchedAtMs: clock.nowMs() - 50 * HOUR_MS,
    askedAtMs: clock.nowMs() - HOUR_MS,
    refusal: { why: "size_swing", detail: "4,410 names, 9,120 before" },
  },
  { id: "packed", curated: true, names: 5_204, from: "package" },
  {
    id: "gone",
    curated: false,
    names: 0,
    from: "nowhere",
    askedAtMs: clock.nowMs() - HOUR_MS,
    refusal: { why: "bad_status", detail: "404" },
  },
];
