import type { UnknownReason } from "../core/mail/lookup.ts";

/** Counters since the start, and two gauges. */
export interface ResolverStats {
  readonly queries: number;
  readonly retries: number;
  /** Questions answered by a retry. */
  readonly recovered: number;
  /** Answers that came after their try's time was over. */
  readonly lateAnswers: number;
  /** Messages that answer no question under way. */
  readonly strays: number;
  readonly truncated: number;
  readonly unknown: Readonly<Record<UnknownReason, number>>;
  /** Gauge: how many tries of this client may be under way. */
  readonly window: number;
  /** Gauge: tries of this client under way. */
  readonly underWay: number;
  /** Gauge: questions without a reply. */
  readonly unsettled: number;
}

type Counter = Exclude<keyof ResolverStats, "unknown" | "window" | "underWay" | "unsettled">;

/** The counters at the start. */
export const noCounts = (): Record<Counter, number> => ({
  queries: 0,
  retries: 0,
  recovered: 0,
  lateAnswers: 0,
  strays: 0,
  truncated: 0,
});

export const noUnknown = (): Record<UnknownReason, number> => ({
  timeout: 0,
  servfail: 0,
  refused: 0,
  malformed: 0,
  network: 0,
  deadline: 0,
  suspect: 0,
});
