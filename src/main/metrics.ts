import { Counter, Gauge, type Registry } from "prom-client";
import type { SignInOutcome } from "../accounts/sign-in/sign-in.ts";
import type { ResourceName } from "../base/resources.ts";
import type { ShareFigures } from "../base/shares.ts";
import type { BulkWorker, WorkerFigures } from "../bulk/worker/worker.ts";
import { DEFAULT_POLICY } from "../core/policy/default-policy.ts";
import { type FullResult, isInconclusive } from "../core/validate/result.ts";
import type { DnsLookup, DnsStats } from "../dns/lookup.ts";
import type { Trust, TrustStats } from "../dns/trust/trust.ts";
import type { DecisionMade } from "../gate/outcome-recorder.ts";

/** Which program this is. */
export function watchProgram(registry: Registry, version: string): void {
  new Gauge({
    name: "gatepost_build_info",
    help: "1, with the versions of the program and of Node.",
    labelNames: ["version", "node"],
    registers: [registry],
  }).set({ version, node: process.version }, 1);
}

/** Cache hits since the start. */
export function watchAnswerCache(
  registry: Registry,
  answerReads: () => { readonly hits: number; readonly misses: number },
): void {
  const reads: Counter = new Counter({
    name: "gatepost_answer_cache_reads_total",
    help: 'Single checks that looked for a finished answer: "hit" or "miss".',
    labelNames: ["outcome"],
    registers: [registry],
    collect() {
      const { hits, misses } = answerReads();
      reads.reset();
      reads.inc({ outcome: "hit" }, hits);
      reads.inc({ outcome: "miss" }, misses);
    },
  });
}

export type WebhookOutcome = "accepted" | "failed" | "removed";

/** Counts webhooks that this process sent, or found that their URL was gone. */
export function webhookCounter(registry: Registry): (outcome: WebhookOutcome) => void {
  const deliveries = new Counter({
    name: "gatepost_webhook_deliveries_total",
    help: 'Webhooks by what came of them: "accepted", "failed" or "removed" (the URL was gone).',
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => deliveries.inc({ outcome });
}

/** Counts passwords that were tried in the dashboard. */
export function signInCounter(registry: Registry): (outcome: SignInOutcome) => void {
  const signIns = new Counter({
    name: "gatepost_sign_ins_total",
    help: 'Passwords tried in the dashboard: "right", "wrong" or "delayed" (refused unread after many wrong ones).',
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => signIns.inc({ outcome });
}

/** What is known of DNS clients and of trust in their resolver, in one thread. */
export interface DnsFigures {
  /** By the client's name. */
  readonly clients: Readonly<Record<string, DnsStats>>;
  readonly trust: TrustStats | undefined;
}

interface ServerDns {
  readonly checker: { readonly dns: DnsLookup; readonly trust: Trust | undefined };
  /** For learning. */
  readonly dns: DnsLookup;
  /** `figures`: where this process has a bulk thread. */
  readonly bulk: {
    readonly figures?: (() => { readonly dns: DnsFigures } | undefined) | undefined;
  };
}

/** Of a server's main thread and, once it has started, of its bulk thread. */
export const serverDns = ({
  checker,
  dns,
  bulk,
}: ServerDns): readonly (DnsFigures | undefined)[] => [
  {
    clients: { single: checker.dns.stats(), learning: dns.stats() },
    trust: checker.trust?.stats(),
  },
  bulk.figures?.()?.dns,
];

/** Every figure of every DNS client as `gatepost_dns`, read when the page is asked for. `read`: one for each thread. */
export function watchDns(
  registry: Registry,
  read: () => readonly (DnsFigures | undefined)[],
): void {
  const suspect: Gauge = new Gauge({
    name: "gatepost_dns_suspect",
    help: '1 while the resolver\'s answers are not trusted; its "no" then counts as no answer.',
    registers: [registry],
    collect: () => suspect.set(read().some((each) => each?.trust?.suspect !== undefined) ? 1 : 0),
  });
  const figures = new Gauge({
    name: "gatepost_dns",
    help: "Figures of the DNS clients: counters since the start, and the gauges window, under_way, unsettled and cache_size.",
    labelNames: ["client", "figure"],
    registers: [registry],
    collect() {
      for (const [client, figure, value] of read().flatMap((thread) => rowsOf(thread))) {
        figures.set({ client, figure }, value);
      }
    },
  });
}

type Row = readonly [client: string, figure: string, value: number];

/** What trust withheld is counted with the first client of its thread. */
function rowsOf(thread: DnsFigures | undefined): readonly Row[] {
  if (thread === undefined) return [];
  const rows = Object.entries(thread.clients).flatMap(([client, stats]) =>
    figuresOf(stats).map(([figure, value]): Row => [client, figure, value]),
  );
  const [client = "none"] = Object.keys(thread.clients);
  if (thread.trust === undefined) return rows;
  return [...rows, [client, "unknown_suspect", thread.trust.withheld]];
}

function figuresOf({ cache, unknown, ...counters }: DnsStats): [name: string, value: number][] {
  const all = { ...counters, ...prefixed("unknown", unknown), ...prefixed("cache", cache) };
  return Object.entries(all).map(([name, value]) => [snake(name), value]);
}

function prefixed(prefix: string, figures: object): Readonly<Record<string, number>> {
  const pairs = Object.entries(figures) as [string, number][];
  return Object.fromEntries(pairs.map(([name, value]) => [`${prefix}_${name}`, value]));
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const OUTCOMES = ["accepted", "disposable", "no_mail", "unknown", "malformed"] as const;

/** What a fresh check came to. */
type VerdictOutcome = (typeof OUTCOMES)[number];

export type VerdictCounts = Readonly<Record<VerdictOutcome, number>>;

/** Counts verdicts of one kind of check. */
export interface VerdictTally {
  readonly count: (result: FullResult) => void;
  readonly counts: () => VerdictCounts;
}

export function verdictTally(): VerdictTally {
  const counts = { accepted: 0, disposable: 0, no_mail: 0, unknown: 0, malformed: 0 };
  return { count: (result) => void (counts[outcomeOf(result)] += 1), counts: () => counts };
}

function outcomeOf(result: FullResult): VerdictOutcome {
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
  const verdicts: Counter = new Counter({
    name: "gatepost_verdicts_total",
    help: "Fresh verdicts by outcome, of single checks and of lists.",
    labelNames: ["check", "outcome"],
    registers: [registry],
    collect() {
      verdicts.reset();
      for (const [check, counts] of Object.entries(sources)) {
        const read = counts();
        for (const outcome of OUTCOMES) verdicts.inc({ check, outcome }, read?.[outcome] ?? 0);
      }
    },
  });
}

const COUNTED = ["taken", "stored", "late", "postponed", "failed"] as const;

/** Figures of a bulk worker, read when the page is asked for. */
export function watchWorker(
  registry: Registry,
  name: string,
  worker: Pick<BulkWorker, "figures">,
): void {
  const registers = [registry];
  new Gauge({
    name: "gatepost_worker_info",
    help: "1, with the name of this worker, which is new with each start.",
    labelNames: ["worker"],
    registers,
  }).set({ worker: name }, 1);
  const chunks = new Counter({
    name: "gatepost_worker_chunks_total",
    help: "Chunks by what came of them: taken, then stored, late, postponed (DNS was silent) or failed.",
    labelNames: ["outcome"],
    registers,
    collect() {
      const figures = worker.figures();
      chunks.reset();
      for (const outcome of COUNTED) chunks.inc({ outcome }, figures[outcome]);
    },
  });
  for (const [part, help, read] of GAUGES) {
    const gauge: Gauge = new Gauge({
      name: `gatepost_worker_${part}`,
      help,
      registers,
      collect: () => gauge.set(read(worker.figures())),
    });
  }
}

const GAUGES: readonly [part: string, help: string, read: (figures: WorkerFigures) => number][] = [
  [
    "entries_per_second",
    "Entries checked in a second while there is work.",
    (f) => f.entriesPerSecond,
  ],
  ["chunks_in_use", "Chunks under way.", (f) => f.inUse],
  ["open_entries", "Entries of chunks under way that are not checked yet.", (f) => f.openEntries],
];

/** Of a worker that has not begun. */
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

type Figures = ReadonlyMap<ResourceName, ShareFigures>;

/** How much of every shared resource is in use, and how much of it by its largest owner. */
export function watchShares(registry: Registry, read: () => Figures): void {
  let figures: Figures = new Map();
  const used: Gauge = new Gauge({
    name: "gatepost_share_used_ratio",
    help: "Part of a shared resource that is in use, 0 to 1.",
    labelNames: ["resource"],
    registers: [registry],
    collect() {
      figures = read(); // once a scrape, in the metric that is collected first
      for (const [resource, { used: now, total }] of figures) used.set({ resource }, now / total);
    },
  });
  gauge(registry, {
    name: "gatepost_share_largest_owner_ratio",
    help: "Part of a shared resource that one owner held at most since the last scrape, 0 to 1.",
    value: ({ largest, total }) => largest / total,
    figures: () => figures,
  });
  gauge(registry, {
    name: "gatepost_share_waiting",
    help: "Requests that wait for their owner's turn, by resource.",
    value: ({ waiting }) => waiting,
    figures: () => figures,
  });
  countRefusals(registry, () => figures);
}

interface GaugeOrder {
  readonly name: string;
  readonly help: string;
  readonly value: (figures: ShareFigures) => number;
  readonly figures: () => Figures;
}

function gauge(registry: Registry, { name, help, value, figures }: GaugeOrder): void {
  const made: Gauge = new Gauge({
    name,
    help,
    labelNames: ["resource"],
    registers: [registry],
    collect() {
      for (const [resource, now] of figures()) made.set({ resource }, value(now));
    },
  });
}

function countRefusals(registry: Registry, figures: () => Figures): void {
  const refused: Counter = new Counter({
    name: "gatepost_share_refused_total",
    help: 'Work that found no room, by resource and reason: "owner" (over its share), "all" (all is full) or "reclaimed" (ended for an owner with less).',
    labelNames: ["resource", "why"],
    registers: [registry],
    collect() {
      refused.reset();
      for (const [resource, now] of figures()) {
        refused.inc({ resource, why: "owner" }, now.refused.owner);
        refused.inc({ resource, why: "all" }, now.refused.all);
        refused.inc({ resource, why: "reclaimed" }, now.reclaimed);
      }
    },
  });
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

/** Counts decisions of this process, with and without a key. */
export function decisionCounter(registry: Registry): (made: DecisionMade) => void {
  const decisions = new Counter({
    name: "gatepost_decisions_total",
    help: 'Sign-up decisions by decision and reason; reasons that a policy makes up are "own".',
    labelNames: ["decision", "reason"],
    registers: [registry],
  });
  return ({ decision, reason }) =>
    decisions.inc({ decision, reason: REASONS.has(reason) ? reason : "own" });
}

/** Counts calls of identity systems to this process. */
export function hookCounter(registry: Registry): (system: string, outcome: string) => void {
  const calls = new Counter({
    name: "gatepost_hook_calls_total",
    help: 'Calls of identity systems: "accepted", "refused", "failed_open" or "unauthenticated".',
    labelNames: ["system", "outcome"],
    registers: [registry],
  });
  return (system, outcome) => calls.inc({ system, outcome });
}

/** Counts feedback given to this process. */
export function feedbackCounter(registry: Registry): (outcome: string) => void {
  const given = new Counter({
    name: "gatepost_feedback_total",
    help: 'What accounts reported of their sign-ups: "abuse", "bounce" or "fine".',
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => given.inc({ outcome });
}
