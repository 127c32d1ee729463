import type { UnknownReason } from "../../core/mail/lookup.ts";

export const NO_COUNTS = {
  queries: 0,
  retries: 0,
  recovered: 0,
  /** Answers that came after their try's time was over. */
  lateAnswers: 0,
  /** Messages that answer no question under way. */
  strays: 0,
  truncated: 0,
};

export interface ResolverStats extends Readonly<typeof NO_COUNTS> {
  readonly unknown: Readonly<Record<UnknownReason, number>>;
  readonly window: number;
  readonly underWay: number;
  readonly unsettled: number;
}

export const noUnknown = (): Record<UnknownReason, number> => ({
  timeout: 0,
  servfail: 0,
  refused: 0,
  malformed: 0,
  network: 0,
  deadline: 0,
  suspect: 0,
});

/** Single checks answer a person, bulk can wait, `again` is a second pass, a probe asks whether the server works. */
export type Profile = "interactive" | "bulk" | "again" | "probe";

export interface QueryTimeouts {
  /** How long each try is waited for, and keeps its place, before the next. */
  readonly triesMs: readonly number[];
  readonly tcpMs: number;
  /** How long a question may wait for its first try; Infinity: its 5 s begin with the first try. */
  readonly queueMs: number;
  /** The part of the cap that may be in use when it sends: what is above is kept for others. */
  readonly capPart: number;
}

export const QUERY_TIMEOUTS: Readonly<Record<Profile, QueryTimeouts>> = {
  // Each try is listened for to the end. At 2 % loss three tries leave one in 125,000 live names without an answer, four
  // one in 6 million.
  interactive: { triesMs: [400, 600, 700, 900], tcpMs: 2_000, queueMs: 2_000, capPart: 1 },
  bulk: {
    // Longer: where answers take 250 ms and vary, shorter tries would have a tenth more under way than the cap allows.
    triesMs: [700, 700, 800, 800],
    tcpMs: 3_000,
    queueMs: Infinity,
    capPart: 14 / 16, // so that a full batch makes neither single checks nor second passes wait
  },
  again: { triesMs: [400], tcpMs: 500, queueMs: 500, capPart: 15 / 16 },
  // Readiness waits 2 s; four tries in 1.6 s miss a live server once in 6 million at 2 % loss.
  probe: { triesMs: [250, 350, 450, 550], tcpMs: 1_000, queueMs: 1_000, capPart: 1 },
};

/** From the question, or in bulk from its first try, to its end, TCP included: under 5 s, ticks included. */
export const EXCHANGE_MAX_MS = 4_900;
