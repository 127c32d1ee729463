import type { Clock } from "../../ports/process/clock.ts";

/** How much the newest measurement counts. */
const NEWEST_SHARE = 0.3;

/** Entries checked in a second while there is work, smoothed. */
export class Speedometer {
  readonly #clock: Clock;
  #sinceMs = 0;
  #entries = 0;
  #perSecond: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Work begins; idle time before it does not count. */
  start(): void {
    this.#sinceMs = this.#clock.monotonicMs();
    this.#entries = 0;
  }

  count(entries: number): void {
    this.#entries += entries;
  }

  /** The speed, with what was counted since `start` or the last reading. Undefined before anything was. */
  read(): number | undefined {
    const elapsedMs = this.#clock.monotonicMs() - this.#sinceMs;
    if (elapsedMs <= 0 || this.#entries === 0) return this.#perSecond;
    const sample = (this.#entries * 1_000) / elapsedMs;
    const before = this.#perSecond ?? sample;
    this.#perSecond = before + (sample - before) * NEWEST_SHARE;
    this.start();
    return this.#perSecond;
  }
}
