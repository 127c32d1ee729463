import { Fifo } from "./transport/fifo.ts";

/** Things that all fall due the same time after they began, so they fall due in the order they came. */
export class DueList<T> {
  readonly #items = new Fifo<T>();
  readonly #dueAtMs: (item: T) => number;
  readonly #act: (item: T) => void;

  /** `act` is called for everything that falls due, also for what was settled meanwhile. */
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
