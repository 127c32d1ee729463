import type { Clock } from "../../ports/process/clock.ts";

/** How often it looks; a call is late after one look more than `LOOKS`. */
const LOOK_MS = 100;
const LOOKS = 5;

/**
 * Sees that answers come: one timer for all calls of a connection, as Redis answers in order. `late` is
 * called when a call was not answered within 500 to 600 ms.
 */
export class ReplyWatch {
  readonly #clock: Pick<Clock, "after">;
  readonly #late: () => void;
  #sent = 0;
  #answered = 0;
  #isLooking = false;
  /** How many calls had been sent at each of the last looks. */
  #marks: number[] = [];

  constructor(clock: Pick<Clock, "after">, late: () => void) {
    this.#clock = clock;
    this.#late = late;
  }

  sent(): void {
    this.#sent += 1;
    if (!this.#isLooking) this.#lookLater();
  }

  /** Or failed. */
  answered(): void {
    this.#answered += 1;
  }

  #lookLater(): void {
    this.#isLooking = true;
    this.#clock.after(LOOK_MS, () => {
      this.#isLooking = false;
      this.#look();
    });
  }

  #look(): void {
    if (this.#answered === this.#sent) {
      this.#marks = [];
      return;
    }
    this.#lookLater();
    const due = this.#marks.length === LOOKS ? this.#marks.shift() : undefined;
    this.#marks.push(this.#sent);
    if (due !== undefined && this.#answered < due) this.#late();
  }
}
