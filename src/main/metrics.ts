import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import type { ResourceName } from "../base/resources.ts";
import type { ShareFigures } from "../base/shares.ts";
import type { Backlog } from "../bulk/backlog.ts";
import type { BulkWorker, WorkerFigures } from "../bulk/worker/worker.ts";
import { DEFAULT_POLICY } from "../core/policy/default-policy.ts";
import { type FullResult, isInconclusive } from "../core/validate/result.ts";
import type { DnsStats } from "../dns/lookup.ts";
import type { TrustStats } from "../dns/trust/trust.ts";
import type { DecisionMade } from "../gate/outcome-recorder.ts";

type Labels = Readonly<Record<string, string>>;
type Row = readonly [value: number, labels?: Labels];

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

const counter = (registry: Registry, { labelNames = [], ...described }: Described): Counter =>
  new Counter({ ...described, labelNames: [...labelNames], registers: [registry] });

/** A metric whose rows are read when the page is asked for. */
function onScrape(
  registry: Registry,
  Metric: typeof Counter | typeof Gauge,
  { labelNames = [], ...described }: Described,
  read: () => Iterable<Row>,
): void {
  const metric: Counter | Gauge = new Metric({
    ...described,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      metric.reset();
      for (const [value, labels = {}] of read()) metric.inc(labels, value);
    },
  });
}

export function watchProgram(registry: Registry, version: string): void {
  const described = {
    name: "gatepost_build_info",
    help: "1, with the versions of the program and of Node.",
    labelNames: ["version", "node"],
  };
  onScrape(registry, Gauge, described, () => [[1, { version, node: process.version }]]);
}

export function watchAnswerCache(
  registry: Registry,
  answerReads: () => { readonly hits: number; readonly misses: number },
): void {
  const described = {
    name: "gatepost_answer_cache_reads_total",
    help: 'Single checks that looked for a finished answer: "hit" or "miss".',
    labelNames: ["outcome"],
  };
  onScrape(registry, Counter, described, () => {
    const { hits, misses } = answerReads();
    return [
      [hits, { outcome: "hit" }],
      [misses, { outcome: "miss" }],
    ];
  });
}

export type WebhookOutcome = "accepted" | "failed" | "removed";

type CountOutcome<Outcome extends string = string> = (outcome: Outcome) => void;

function outcomeCounter(registry: Registry, described: Described): CountOutcome {
  const outcomes = counter(registry, { ...described, labelNames: ["outcome"] });
  return (outcome) => outcomes.inc({ outcome });
}

export const webhookCounter = (registry: Registry): CountOutcome<WebhookOutcome> =>
  outcomeCounter(registry, {
    name: "gatepost_webhook_deliveries_total",
    help: 'Webhooks by what came of them: "accepted", "failed" or "removed" (the URL was gone).',
  });

export const signInCounter = (registry: Registry): CountOutcome =>
  outcomeCounter(registry, {
    name: "gatepost_sign_ins_total",
    help: 'Passwords tried in the dashboard: "right", "wrong" or "delayed" (refused unread after many wrong ones).',
  });

export const feedbackCounter = (registry: Registry): CountOutcome =>
  outcomeCounter(registry, {
    name: "gatepost_feedback_total",
    help: 'What accounts reported of their sign-ups: "abuse", "bounce" or "fine".',
  });

export function hookCounter(registry: Registry): (system: string, outcome: string) => void {
  const calls = counter(registry, {
    name: "gatepost_hook_calls_total",
    help: 'Calls of identity systems: "accepted", "refused", "failed_open" or "unauthenticated".',
    labelNames: ["system", "outcome"],
  });
  return (system, outcome) => calls.inc({ system, outcome });
}

/** Reasons that have a series of their own; those that a policy makes up are "own". */
const REASONS: ReadonlySet<string> = new Set([
  ...DEFAULT_POLICY.rules.map(({ reason }) => reason),
  "abuse",
  "role",
  "relay",
  "alias",
  "free",
  "fresh_domain",
  "repeated_mailbox",
  "caller",
  "denied",
  "ok",
]);

export function decisionCounter(registry: Registry): (made: DecisionMade) => void {
  const decisions = counter(registry, {
    name: "gatepost_decisions_total",
    help: 'Sign-up decisions by decision and reason; reasons that a policy makes up are "own".',
    labelNames: ["decision", "reason"],
  });
  return ({ decision, reason }) =>
    decisions.inc({ decision, reason: REASONS.has(reason) ? reason : "own" });
}

/** What is known of DNS clients and of trust in their resolver, in one thread. */
export interface DnsFigures {
  readonly clients: Readonly<Record<string, DnsStats>>;
  readonly trust: TrustStats | undefined;
}

/** Every figure of every DNS client as `gatepost_dns`. `read`: one for each thread. */
export function watchDns(
  registry: Registry,
  read: () => readonly (DnsFigures | undefined)[],
): void {
  const suspect = {
    name: "gatepost_dns_suspect",
    help: '1 while the resolver\'s answers are not trusted; its "no" then counts as no answer.',
  };
  onScrape(registry, Gauge, suspect, () => [
    [read().some((each) => each?.trust?.suspect !== undefined) ? 1 : 0],
  ]);
  const figures = {
    name: "gatepost_dns",
    help: "Figures of the DNS clients: counters since the start, and the gauges window, under_way, unsettled and cache_size.",
    labelNames: ["client", "figure"],
  };
  onScrape(registry, Gauge, figures, () => read().flatMap(rowsOf));
}

/** What trust withheld is counted with the first client of its thread. */
function rowsOf(thread: DnsFigures | undefined): readonly Row[] {
  const { clients = {}, trust } = thread ?? {};
  return Object.entries(clients).flatMap(([client, { cache, unknown, ...counters }], at) => {
    const withheld = at === 0 && trust !== undefined && { unknown_suspect: trust.withheld };
    const all = {
      ...counters,
      ...prefixed("unknown", unknown),
      ...prefixed("cache", cache),
      ...withheld,
    };
    return Object.entries(all).map(([name, value]): Row => [
      value,
      { client, figure: snake(name) },
    ]);
  });
}

function prefixed(prefix: string, figures: object): Readonly<Record<string, number>> {
  const pairs = Object.entries(figures) as [string, number][];
  return Object.fromEntries(pairs.map(([name, value]) => [`${prefix}_${name}`, value]));
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export type VerdictCounts = Readonly<
  Record<"accepted" | "disposable" | "no_mail" | "unknown" | "malformed", number>
>;

export interface VerdictTally {
  readonly count: (result: FullResult) => void;
  readonly counts: () => VerdictCounts;
}

const NO_VERDICTS: VerdictCounts = {
  accepted: 0,
  disposable: 0,
  no_mail: 0,
  unknown: 0,
  malformed: 0,
};

export function verdictTally(): VerdictTally {
  const counts = { ...NO_VERDICTS };
  return { count: (result) => void (counts[outcomeOf(result)] += 1), counts: () => counts };
}

function outcomeOf(result: FullResult): keyof VerdictCounts {
  if (!result.format) return "malformed";
  if (result.disposable) return "disposable";
  if (result.dns) return "accepted";
  return isInconclusive(result) ? "unknown" : "no_mail";
}

/** Verdicts by where they were made; an answer from the cache of finished answers is no verdict. */
export function watchVerdicts(
  registry: Registry,
  sources: Readonly<Record<string, () => VerdictCounts | undefined>>,
): void {
  const described = {
    name: "gatepost_verdicts_total",
    help: "Fresh verdicts by outcome, of single checks and of lists.",
    labelNames: ["check", "outcome"],
  };
  onScrape(registry, Counter, described, () =>
    Object.entries(sources).flatMap(([check, counts]) =>
      Object.entries(counts() ?? NO_VERDICTS).map(([outcome, count]): Row => [
        count,
        { check, outcome },
      ]),
    ),
  );
}

export function watchWorker(
  registry: Registry,
  name: string,
  worker: Pick<BulkWorker, "figures">,
): void {
  const info = {
    name: "gatepost_worker_info",
    help: "1, with the name of this worker, which is new with each start.",
    labelNames: ["worker"],
  };
  onScrape(registry, Gauge, info, () => [[1, { worker: name }]]);
  const chunks = {
    name: "gatepost_worker_chunks_total",
    help: "Chunks by what came of them: taken, then stored, late, postponed (DNS was silent) or failed.",
    labelNames: ["outcome"],
  };
  onScrape(registry, Counter, chunks, () => {
    const figures = worker.figures();
    return COUNTED.map((outcome): Row => [figures[outcome], { outcome }]);
  });
  for (const [described, figure] of WORKER_GAUGES) {
    onScrape(registry, Gauge, described, () => [[worker.figures()[figure]]]);
  }
}

const COUNTED = ["taken", "stored", "late", "postponed", "failed"] as const;

const WORKER_GAUGES: readonly (readonly [Described, keyof WorkerFigures])[] = [
  [
    {
      name: "gatepost_worker_entries_per_second",
      help: "Entries checked in a second while there is work.",
    },
    "entriesPerSecond",
  ],
  [{ name: "gatepost_worker_chunks_in_use", help: "Chunks under way." }, "inUse"],
  [
    {
      name: "gatepost_worker_open_entries",
      help: "Entries of chunks under way that are not checked yet.",
    },
    "openEntries",
  ],
];

export const IDLE_WORKER: WorkerFigures = {
  taken: 0,
  stored: 0,
  late: 0,
  postponed: 0,
  failed: 0,
  entriesPerSecond: 0,
  inUse: 0,
  openEntries: 0,
};

/** How much of every shared resource is in use, and how much of it by its largest owner. */
export function watchShares(
  registry: Registry,
  read: () => ReadonlyMap<ResourceName, ShareFigures>,
): void {
  let figures: ReturnType<typeof read> = new Map();
  const rows = (value: (figures: ShareFigures) => number): readonly Row[] =>
    [...figures].map(([resource, now]) => [value(now), { resource }]);
  const labelNames = ["resource"];
  const used = {
    name: "gatepost_share_used_ratio",
    help: "Part of a shared resource that is in use, 0 to 1.",
    labelNames,
  };
  onScrape(registry, Gauge, used, () => {
    figures = read(); // once a scrape, in the metric that is collected first
    return rows(({ used: now, total }) => now / total);
  });
  const largest = {
    name: "gatepost_share_largest_owner_ratio",
    help: "Part of a shared resource that one owner held at most since the last scrape, 0 to 1.",
    labelNames,
  };
  onScrape(registry, Gauge, largest, () => rows((now) => now.largest / now.total));
  const waiting = {
    name: "gatepost_share_waiting",
    help: "Requests that wait for their owner's turn, by resource.",
    labelNames,
  };
  onScrape(registry, Gauge, waiting, () => rows((now) => now.waiting));
  const refused = {
    name: "gatepost_share_refused_total",
    help: 'Work that found no room, by resource and reason: "owner" (over its share), "all" (all is full) or "reclaimed" (ended for an owner with less).',
    labelNames: ["resource", "why"],
  };
  onScrape(registry, Counter, refused, () =>
    [...figures].flatMap(([resource, now]): readonly Row[] => [
      [now.refused.owner, { resource, why: "owner" }],
      [now.refused.all, { resource, why: "all" }],
      [now.reclaimed, { resource, why: "reclaimed" }],
    ]),
  );
}

/** A scrape waits no longer for the database. */
const READ_WITHIN_MS = 2_000;

interface Reading {
  readonly backlog: Backlog | undefined;
  readonly isUp: boolean;
  readonly tookMs: number;
}

const one = (value: number | undefined): readonly Row[] => (value === undefined ? [] : [[value]]);

const BACKLOG: readonly (Described & { readonly rows: (reading: Reading) => readonly Row[] })[] = [
  {
    name: "gatepost_database_up",
    help: "1 when the database answered this scrape within 2 s and takes writes.",
    rows: ({ isUp }) => one(isUp ? 1 : 0),
  },
  {
    name: "gatepost_database_answer_seconds",
    help: "Time of this scrape's questions to the database, at most 2 s.",
    rows: ({ tookMs }) => one(tookMs / 1_000),
  },
  {
    name: "gatepost_jobs",
    help: "Running jobs by state, of all processes.",
    labelNames: ["state"],
    rows: ({ backlog }) =>
      backlog === undefined
        ? []
        : [
            [backlog.pendingJobs, { state: "pending" }],
            [backlog.processingJobs, { state: "processing" }],
          ],
  },
  {
    name: "gatepost_oldest_job_age_seconds",
    help: "Since the acceptance of the oldest running job; 0 without one.",
    rows: ({ backlog }) => one(backlog && backlog.oldestJobMs / 1_000),
  },
  {
    name: "gatepost_entries_waiting",
    help: "Entries of running jobs that are not checked yet; beyond 2,000,000 new jobs are refused.",
    rows: ({ backlog }) => one(backlog?.entries),
  },
  {
    name: "gatepost_chunks",
    help: "Chunks of running jobs: leased by a worker, or waiting for one.",
    labelNames: ["state"],
    rows: ({ backlog }) =>
      backlog === undefined
        ? []
        : [
            [backlog.waitingChunks, { state: "waiting" }],
            [backlog.leasedChunks, { state: "leased" }],
          ],
  },
  {
    name: "gatepost_bulk_entries_per_second",
    help: "Entries that all workers checked a second, in the last seconds.",
    rows: ({ backlog }) => one(backlog?.entriesPerSecond),
  },
  {
    name: "gatepost_webhooks_queued",
    help: "Webhooks not yet being sent.",
    rows: ({ backlog }) => one(backlog?.queuedWebhooks),
  },
];

interface BacklogSource {
  readonly clock: Clock;
  readonly answers: () => Promise<boolean>;
  readonly read: () => Promise<Backlog>;
}

/** What waits in the database, asked once for each scrape. A database that does not answer leaves the figures out. */
export function watchBacklog(registry: Registry, source: BacklogSource): void {
  let underWay: Promise<Reading> | undefined;
  const reading = (): Promise<Reading> =>
    (underWay ??= readInTime(source).finally(() => (underWay = undefined)));
  for (const { rows, labelNames = [], ...described } of BACKLOG) {
    const gauge: Gauge = new Gauge({
      ...described,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        const now = rows(await reading());
        gauge.reset();
        // A reset gauge without labels is 0, although it was not measured.
        if (labelNames.length === 0 && now.length === 0) gauge.remove();
        for (const [value, labels = {}] of now) gauge.set(labels, value);
      },
    });
  }
}

async function readInTime({ read, answers, clock }: BacklogSource): Promise<Reading> {
  const startMs = clock.monotonicMs();
  const limit = { timeoutMs: READ_WITHIN_MS, clock };
  const noWrites = (): boolean => false;
  const writes = inTime(answers().catch(noWrites), { ...limit, late: false });
  const nothing = (): undefined => undefined;
  const backlog = await inTime(read().catch(nothing), { ...limit, late: undefined });
  const tookMs = clock.monotonicMs() - startMs;
  return { backlog, isUp: backlog !== undefined && (await writes), tookMs };
}
