import type { Patience } from "./patience.ts";

/** Of the mean and of the deviation: a few thousand answers a second take some tenths of a second to change them. */
const GAIN = 1 / 256;
/** RFC 6298 section 2: a retransmission time-out is the mean and four mean deviations. */
const DEVIATIONS = 4;

/**
 * How long to wait for each try before the next, by what answers take: the retransmission time-out of RFC 6298, times the
 * number of the try, between `fastTriesMs` and `triesMs`. At most one answer in eight takes longer than that, whatever
 * their spread (Markov's inequality), and of those with a long tail one in thirty. Nothing is known at the start, so it
 * begins with the longest.
 */
export class TryTimes {
  readonly #patience: Patience;
  #meanMs: number;
  #deviationMs: number;

  constructor(patience: Patience) {
    this.#patience = patience;
    const mostMs = Math.max(...patience.triesMs);
    this.#meanMs = mostMs / 2;
    this.#deviationMs = mostMs / 2 / DEVIATIONS;
  }

  /**
   * A question was answered `tookMs` after its first try, whichever try was answered. Late answers count too. Without them
   * only fast ones would be known, and the time-out would shrink further and further.
   */
  answered(tookMs: number): void {
    const apart = tookMs - this.#meanMs;
    this.#meanMs += apart * GAIN;
    this.#deviationMs += (Math.abs(apart) - this.#deviationMs) * GAIN;
  }

  /** `at`: 0 for the first try. */
  ofTryMs(at: number): number {
    const { triesMs, fastTriesMs = triesMs } = this.#patience;
    const timeOutMs = (this.#meanMs + DEVIATIONS * this.#deviationMs) * (at + 1);
    return Math.min(triesMs[at] ?? 0, Math.max(fastTriesMs[at] ?? 0, timeOutMs));
  }
}
