import type { Clock } from "../../ports/process/clock.ts";

const TICK_MS = 20;

/** A tick later than this found the event loop blocked: answers lie unread in the sockets. */
const LATE_MS = 60;

/** Runs something every 20 ms while there is need. One timer for all questions costs next to nothing. */
export class Ticker {
  readonly #clock: Clock;
  readonly #run: () => void;
  readonly #isNeeded: () => boolean;
  #dueMs: number | undefined;
  #hasPassed = false;

  /**
   * After a pause of the whole process one tick is let pass, so that what came meanwhile is read before
   * anything counts as lost; never two in a row, because a process that is always busy must give up too.
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
