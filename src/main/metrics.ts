import { Counter, Gauge, type Registry } from "prom-client";
import { type Clock, inTime } from "../base/clock.ts";
import type { Health } from "../base/health.ts";
import type { HttpMetrics } from "../base/metrics.ts";
import type { ResourceName } from "../base/resources.ts";
import type { ShareFigures } from "../base/shares.ts";
import type { Backlog } from "../bulk/jobs/jobs.ts";
import type { WorkerFigures } from "../bulk/jobs/worker.ts";
import { BUILT_IN_POLICIES } from "../core/policy/default-policy.ts";
import { type FullResult, isInconclusive } from "../core/validate/result.ts";
import type { DnsStats } from "../dns/lookup.ts";
import type { TrustStats } from "../dns/trust/trust.ts";
import type { DecisionMade } from "../gate/outcomes.ts";
import type { FeedStatus } from "../lists/feed-status.ts";

const EVENTS = {
  listFetches: {
    name: "gatepost_list_fetches_total",
    help: 'Fetches by list and what they came to: "accepted", "unchanged" or why they were refused.',
    labelNames: ["list", "outcome"],
  },
  webhooks: {
    name: "gatepost_webhook_deliveries_total",
    help: 'Webhooks by what came of them: "accepted", "failed" or "removed" (the URL was gone).',
    labelNames: ["outcome"],
  },
  signIns: {
    name: "gatepost_sign_ins_total",
    help: 'Passwords tried in the dashboard: "right", "wrong" or "delayed" (refused unread after many wrong ones).',
    labelNames: ["outcome"],
  },
  feedback: {
    name: "gatepost_feedback_total",
    help: 'What accounts reported of their sign-ups: "abuse", "bounce", "complaint" or "fine".',
    labelNames: ["outcome"],
  },
  hooks: {
    name: "gatepost_hook_calls_total",
    help: 'Calls of identity systems: "accepted", "refused", "failed_open", "late", "unread" or "unauthenticated".',
    labelNames: ["system", "outcome"],
  },
  waves: {
    name: "gatepost_waves_total",
    help: 'Waves of messages to mailboxes that an account never sent to: "began" or "ended".',
    labelNames: ["outcome"],
  },
  decisions: {
    name: "gatepost_decisions_total",
    help: 'Decisions on sign-ups and messages by decision and reason; reasons that a policy makes up are "own".',
    labelNames: ["decision", "reason"],
  },
};

/** Added up when the page is asked for: the library makes a text of all labels each time. Takes labels in their order, words all. */
export function eventCounter(
  registry: Registry,
  event: keyof typeof EVENTS,
): (...labels: readonly string[]) => void {
  const counts = new Map<string, number>();
  new Counter({
    ...EVENTS[event],
    registers: [registry],
    collect() {
      for (const [labels, count] of counts) this.labels(...labels.split(" ")).inc(count);
      counts.clear();
    },
  });
  return (...labels) => {
    const key = labels.join(" ");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
}

/** Reasons that have a series of their own; those that a policy makes up are "own". */
const REASONS: ReadonlySet<string> = new Set([
  ...[...BUILT_IN_POLICIES.values()].flatMap(({ rules }) => rules.map(({ reason }) => reason)),
  ..."abuse role relay alias free fresh_domain repeated_mailbox caller denied ok".split(" "),
]);

export function decisionCounter(registry: Registry): (made: DecisionMade) => void {
  const decided = eventCounter(registry, "decisions");
  return ({ outcome: { decision, reason } }) =>
    decided(decision, REASONS.has(reason) ? reason : "own");
}

const NOTHING_COUNTED = {
  requests: 0,
  refused: 0,
  hookCalls: 0,
  failedOpen: 0,
  forwarded: 0,
  proxy: "",
};

export type ProcessCounts = typeof NOTHING_COUNTED;

export const nothingCounted = (): ProcessCounts => ({ ...NOTHING_COUNTED });

export const countedRequests = (http: HttpMetrics, counted: ProcessCounts): HttpMetrics => ({
  observe(route, method, status, durationMs) {
    counted.requests += 1;
    http.observe(route, method, status, durationMs);
  },
  refused(code) {
    counted.refused += 1;
    http.refused(code);
  },
});

type MetricRow = readonly [value: number, labels: Readonly<Record<string, string>>];

/** A metric that is read when the page is asked for; one called "..._total" is a counter. */
interface Figure<Reading> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
  /** The value of a metric without labels, or a row for each of its labels; undefined leaves it out. */
  readonly of: (reading: Reading) => number | readonly MetricRow[] | undefined;
}

export function watch<Reading>(
  registry: Registry,
  figures: readonly Figure<Reading>[],
  read: () => Reading | Promise<Reading>,
): void {
  let underWay: Promise<Reading> | undefined;
  const readOnce = async (): Promise<Reading> => read();
  const reading = (): Promise<Reading> =>
    (underWay ??= readOnce().finally(() => (underWay = undefined)));
  for (const { of, ...described } of figures) {
    const Metric = described.name.endsWith("_total") ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      ...described,
      registers: [registry],
      async collect() {
        const found = of(await reading());
        metric.reset();
        if (typeof found === "number") metric.inc(found);
        // A reset metric without labels is 0, although it was not measured.
        else if (described.labelNames === undefined) metric.remove();
        else for (const [value, labels] of found ?? []) metric.inc(labels, value);
      },
    });
  }
}

const rowsBy = (label: string, values: Readonly<Record<string, number>>): readonly MetricRow[] =>
  Object.entries(values).map(([name, value]) => [value, { [label]: name }]);

const byList = (value: (status: FeedStatus) => number) => (all: readonly FeedStatus[]) =>
  all.map((status): MetricRow => [value(status), { list: status.id }]);

export const FEEDS: readonly Figure<readonly FeedStatus[]>[] = [
  {
    name: "gatepost_list_names",
    help: "Names in use, by list.",
    labelNames: ["list"],
    of: byList(({ names }) => names),
  },
  {
    name: "gatepost_list_fetched_timestamp_seconds",
    help: "When the copy in use was fetched; 0 for one that came with the program.",
    labelNames: ["list"],
    of: byList(({ fetchedAtMs = 0 }) => fetchedAtMs / 1_000),
  },
  {
    name: "gatepost_list_confirmed_timestamp_seconds",
    help: "When the source last gave the copy in use or said that it is the newest; 0 for never.",
    labelNames: ["list"],
    of: byList(({ confirmedAtMs = 0 }) => confirmedAtMs / 1_000),
  },
];

export const PROGRAM: readonly Figure<string>[] = [
  {
    name: "gatepost_build_info",
    help: "1, with the versions of the program and of Node.",
    labelNames: ["version", "node"],
    of: (version) => [[1, { version, node: process.version }]],
  },
];

export const HEALTH: readonly Figure<Awaited<ReturnType<Health["state"]>>>[] = [
  {
    name: "gatepost_broken",
    help: "1 for a part that is broken, 0 for one that is well.",
    labelNames: ["part"],
    of: ({ parts, broken }) =>
      parts.map((name) => [broken.some(({ part }) => part === name) ? 1 : 0, { part: name }]),
  },
  {
    name: "gatepost_broken_info",
    help: "1 for each part that is broken, with the sentence that the page System says of it.",
    labelNames: ["part", "says"],
    of: ({ broken }) => broken.map(({ part, says }) => [1, { part, says }]),
  },
];

export const ANSWER_CACHE: readonly Figure<{ readonly hits: number; readonly misses: number }>[] = [
  {
    name: "gatepost_answer_cache_reads_total",
    help: 'Single checks that looked for a finished answer: "hit" or "miss".',
    labelNames: ["outcome"],
    of: ({ hits, misses }) => rowsBy("outcome", { hit: hits, miss: misses }),
  },
];

export interface DnsFigures {
  readonly clients: Readonly<Record<string, DnsStats>>;
  readonly trust: TrustStats | undefined;
}

export const filteredToday = (threads: readonly (DnsFigures | undefined)[]): number =>
  threads.reduce((sum, thread) => sum + (thread?.trust?.filteredToday ?? 0), 0);

export const isTcpAlone = (threads: readonly (DnsFigures | undefined)[]): boolean =>
  threads.some((thread) =>
    Object.values(thread?.clients ?? {}).some(({ tcpAlone }) => tcpAlone > 0),
  );

export const DNS: readonly Figure<readonly (DnsFigures | undefined)[]>[] = [
  {
    name: "gatepost_dns_suspect",
    help: '1 while the resolver\'s answers are not trusted; its "no" then counts as no answer.',
    of: (threads) => (threads.some((each) => each?.trust?.distrusted !== undefined) ? 1 : 0),
  },
  {
    name: "gatepost_dns",
    help: "Figures of the DNS clients: counters since the start, and the gauges window, under_way, unsettled and cache_size.",
    labelNames: ["client", "figure"],
    of: (threads) => threads.flatMap(dnsRows),
  },
];

function dnsRows(thread: DnsFigures | undefined): readonly MetricRow[] {
  const { clients = {}, trust } = thread ?? {};
  return Object.entries(clients).flatMap(([client, { cache, unknown, ...counters }], at) => {
    const replaced = at === 0 &&
      trust !== undefined && { unknown_suspect: trust.replacedByUnknown };
    const all = {
      ...counters,
      ...prefixed("unknown", unknown),
      ...prefixed("cache", cache),
      ...replaced,
    };
    return Object.entries(all).map(([name, value]): MetricRow => [
      value,
      { client, figure: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) },
    ]);
  });
}

function prefixed(prefix: string, figures: object): Readonly<Record<string, number>> {
  const pairs = Object.entries(figures) as [string, number][];
  return Object.fromEntries(pairs.map(([name, value]) => [`${prefix}_${name}`, value]));
}

const NO_VERDICTS = { accepted: 0, disposable: 0, no_mail: 0, unknown: 0, malformed: 0 };

export type VerdictTotals = Readonly<typeof NO_VERDICTS>;

export class VerdictTally {
  readonly counts = { ...NO_VERDICTS };

  count(result: FullResult): void {
    this.counts[outcomeOf(result)] += 1;
  }
}

function outcomeOf(result: FullResult): keyof VerdictTotals {
  if (!result.format) return "malformed";
  if (result.disposable) return "disposable";
  if (result.dns) return "accepted";
  return isInconclusive(result) ? "unknown" : "no_mail";
}

/** By where verdicts were made; an answer from the cache of finished answers is no verdict. */
export const VERDICTS: readonly Figure<Readonly<Record<string, VerdictTotals | undefined>>>[] = [
  {
    name: "gatepost_verdicts_total",
    help: "Fresh verdicts by outcome, of single checks and of lists.",
    labelNames: ["check", "outcome"],
    of: (sources) =>
      Object.entries(sources).flatMap(([check, counts = NO_VERDICTS]) =>
        rowsBy("outcome", counts).map(([value, labels]): MetricRow => [
          value,
          { check, ...labels },
        ]),
      ),
  },
];

/** Without figures before the worker's first report. */
export const WORKER: readonly Figure<WorkerFigures | undefined>[] = [
  {
    name: "gatepost_worker_chunks_total",
    help: "Chunks by what came of them: taken, then stored, late, postponed (DNS was silent) or failed.",
    labelNames: ["outcome"],
    of(figures) {
      const { taken = 0, stored = 0, late = 0, postponed = 0, failed = 0 } = figures ?? {};
      return rowsBy("outcome", { taken, stored, late, postponed, failed });
    },
  },
  {
    name: "gatepost_worker_entries_per_second",
    help: "Entries checked in a second while there is work.",
    of: (figures) => figures?.entriesPerSecond ?? 0,
  },
];

type SharesNow = ReadonlyMap<ResourceName, ShareFigures>;

const byResource = (
  shares: SharesNow,
  value: (now: ShareFigures) => number,
): readonly MetricRow[] => [...shares].map(([resource, now]) => [value(now), { resource }]);

export const SHARES: readonly Figure<SharesNow>[] = [
  {
    name: "gatepost_share_used_ratio",
    help: "Part of a shared resource that is in use, 0 to 1.",
    labelNames: ["resource"],
    of: (shares) => byResource(shares, ({ used, total }) => used / total),
  },
  {
    name: "gatepost_share_largest_owner_ratio",
    help: "Part of a shared resource that one owner held at most since the last scrape, 0 to 1.",
    labelNames: ["resource"],
    of: (shares) => byResource(shares, ({ largest, total }) => largest / total),
  },
  {
    name: "gatepost_share_waiting",
    help: "Requests that wait for their owner's turn, by resource.",
    labelNames: ["resource"],
    of: (shares) => byResource(shares, ({ waiting }) => waiting),
  },
  {
    name: "gatepost_share_refused_total",
    help: 'Work that found no room, by resource and reason: "owner" (over its share), "all" (all is full) or "reclaimed" (ended for an owner with less).',
    labelNames: ["resource", "why"],
    of: (shares) =>
      [...shares].flatMap(([resource, { refused, reclaimed }]) =>
        rowsBy("why", { owner: refused.owner, all: refused.all, reclaimed }).map(
          ([value, why]): MetricRow => [value, { resource, ...why }],
        ),
      ),
  },
];

/** What waits in the database. A database that does not answer leaves the figures out. */
export const BACKLOG: readonly Figure<Awaited<ReturnType<typeof readDatabase>>>[] = [
  {
    name: "gatepost_database_up",
    help: "1 when the database answered this scrape within 2 s and takes writes.",
    of: ({ isUp }) => (isUp ? 1 : 0),
  },
  {
    name: "gatepost_database_answer_seconds",
    help: "Time of this scrape's questions to the database, at most 2 s.",
    of: ({ tookMs }) => tookMs / 1_000,
  },
  {
    name: "gatepost_jobs",
    help: "Running jobs by state, of all processes.",
    labelNames: ["state"],
    of: ({ backlog }) =>
      backlog &&
      rowsBy("state", { pending: backlog.pendingJobs, processing: backlog.processingJobs }),
  },
  {
    name: "gatepost_oldest_job_age_seconds",
    help: "Since the acceptance of the oldest running job; 0 without one.",
    of: ({ backlog }) => backlog && backlog.oldestJobMs / 1_000,
  },
  {
    name: "gatepost_entries_waiting",
    help: "Entries of running jobs that are not checked yet; beyond 2,000,000 new jobs are refused.",
    of: ({ backlog }) => backlog?.entries,
  },
  {
    name: "gatepost_chunks",
    help: "Chunks of running jobs: leased by a worker, or waiting for one.",
    labelNames: ["state"],
    of: ({ backlog }) =>
      backlog && rowsBy("state", { waiting: backlog.waitingChunks, leased: backlog.leasedChunks }),
  },
  {
    name: "gatepost_bulk_entries_per_second",
    help: "Entries that all workers checked a second, in the last seconds.",
    of: ({ backlog }) => backlog?.entriesPerSecond,
  },
  {
    name: "gatepost_webhooks_queued",
    help: "Webhooks not yet being sent.",
    of: ({ backlog }) => backlog?.queuedWebhooks,
  },
];

export async function readDatabase(
  clock: Clock,
  answers: () => Promise<boolean>,
  read: () => Promise<Backlog>,
) {
  const startMs = clock.monotonicMs();
  const limit = { timeoutMs: 2_000, clock };
  const writes = inTime(
    answers().catch(() => false),
    { ...limit, late: false },
  );
  const backlog = await inTime(
    read().catch(() => undefined),
    { ...limit, late: undefined },
  );
  const tookMs = clock.monotonicMs() - startMs;
  return { backlog, isUp: backlog !== undefined && (await writes), tookMs };
}
