import { Fifo } from "../transport/fifo.ts";

/** Items that are all due after the same delay, so they are due in order of insertion. */
export class DueList<T> {
  readonly #items = new Fifo<T>();
  readonly #dueAtMs: (item: T) => number;
  readonly #act: (item: T) => void;

  /** `act` is called for each due item, including settled ones. */
  constructor(dueAtMs: (item: T) => number, act: (item: T) => void) {
    this.#dueAtMs = dueAtMs;
    this.#act = act;
  }

  get length(): number {
    return this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
  }

  run(nowMs: number): void {
    for (let item = this.#items.peek(); item !== undefined; item = this.#items.peek()) {
      if (this.#dueAtMs(item) > nowMs) return;
      this.#items.shift();
      this.#act(item);
    }
  }
}
