import type { Awaitable } from "../../core/mail/lookup.ts";

type Close = () => Awaitable<void>;

/** How everything that a process opened is closed. */
export class Closing {
  readonly #closers: Close[] = [];

  /** Call it right after the thing is open. */
  add(close: Close): void {
    this.#closers.push(close);
  }

  /**
   * Closes the newest first, because it stands on the older ones. One that fails keeps none of the others open; the
   * first fault is thrown when all are closed. Closes each thing once, however often it is called.
   */
  async close(): Promise<void> {
    const faults: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}
