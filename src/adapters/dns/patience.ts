import { WINDOW_START } from "./window.ts";

/**
 * Single checks are hurried; bulk has patience; a second pass asks for what the first may have made the
 * server learn meanwhile, and finds dead names for the most part. Each profile is a resolver with sockets
 * of its own.
 */
export type Profile = "interactive" | "bulk" | "again";

export interface Patience {
  /** How long each try is waited for before the next. */
  readonly triesMs: readonly number[];
  /** How long an answer by TCP may take. */
  readonly tcpMs: number;
  /** How long a question may wait for its first try; where that is no matter, its 5 s begin only then. */
  readonly queueMs: number;
  /** First tries under way at once before round trips have told more. */
  readonly windowStart: number;
}

export const PATIENCE: Readonly<Record<Profile, Patience>> = {
  interactive: {
    triesMs: [400, 800, 1_200],
    tcpMs: 2_000,
    queueMs: 2_000,
    windowStart: WINDOW_START,
  },
  // Four tries: at 2 % loss three leave one in 125,000 live names without an answer, four one in 6 million.
  bulk: {
    triesMs: [800, 1_000, 1_000, 2_000],
    tcpMs: 3_000,
    queueMs: Infinity,
    windowStart: WINDOW_START,
  },
  // Silence widens no window: from 64, which are 160 dead names a second, it would stay there.
  again: { triesMs: [400], tcpMs: 500, queueMs: 500, windowStart: 1_000 },
};

/** From the question, or in bulk from its first try, to the last word, TCP included: under 5 s, ticks included. */
export const EXCHANGE_MAX_MS = 4_900;
