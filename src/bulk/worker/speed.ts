import type { QueueAhead } from "../jobs.ts";
import type { Clock } from "../../base/clock.ts";

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

/** Taken for the speed of the workers until one has measured its own. */
const ASSUMED_ENTRIES_PER_SECOND = 1_000;

/**
 * Whole seconds until a new job of `entries` will be done, at least 1. Owners take turns, so of each running
 * job no more stands before it than it has itself.
 */
export function estimatedSeconds(
  entries: number,
  { openEntries, entriesPerSecond }: QueueAhead,
): number {
  const ahead = openEntries.reduce((sum, open) => sum + Math.min(open, entries), 0);
  const speed = Math.max(1, entriesPerSecond ?? ASSUMED_ENTRIES_PER_SECOND);
  return Math.max(1, Math.ceil((ahead + entries) / speed));
}
