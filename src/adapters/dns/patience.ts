/** Single checks are hurried; bulk has patience. Each profile is a resolver with sockets of its own. */
export type Profile = "interactive" | "bulk";

export interface Patience {
  /** How long each try is waited for before the next. */
  readonly triesMs: readonly number[];
  /** How long an answer by TCP may take. */
  readonly tcpMs: number;
  /** How long a question may wait for its first try; where that is no matter, its 5 s begin only then. */
  readonly queueMs: number;
}

export const PATIENCE: Readonly<Record<Profile, Patience>> = {
  interactive: { triesMs: [400, 800, 1_200], tcpMs: 2_000, queueMs: 2_000 },
  bulk: { triesMs: [800, 1_600, 2_400], tcpMs: 3_000, queueMs: Infinity },
};

/** From the question, or in bulk from its first try, to the last word, TCP included: under 5 s, ticks included. */
export const EXCHANGE_MAX_MS = 4_900;
