import type { Clock } from "../../base/clock.ts";

const TICK_MS = 20;

/** A tick later than this means that the event loop was blocked: answers wait unread in the sockets. */
const LATE_MS = 60;

/** Runs a task every 20 ms while it is needed: one timer for all questions. */
export class Ticker {
  readonly #clock: Clock;
  readonly #run: () => void;
  readonly #isNeeded: () => boolean;
  #dueMs: number | undefined;
  #hasPassed = false;

  /**
   * After a pause of the whole process one tick is skipped, so that answers that arrived meanwhile are read before
   * a try counts as lost; never two in a row, because a process that is always busy must time out too.
   */
  constructor(clock: Clock, run: () => void, isNeeded: () => boolean) {
    this.#clock = clock;
    this.#run = run;
    this.#isNeeded = isNeeded;
  }

  start(): void {
    if (this.#dueMs !== undefined) return;
    this.#dueMs = this.#clock.monotonicMs() + TICK_MS;
    this.#clock.after(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    const lateMs = this.#clock.monotonicMs() - (this.#dueMs ?? 0);
    this.#dueMs = undefined;
    this.#hasPassed = lateMs >= LATE_MS && !this.#hasPassed;
    if (!this.#hasPassed) this.#run();
    if (this.#isNeeded()) this.start();
  }
}
