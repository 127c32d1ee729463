import { Chain, type Link } from "./chain.ts";

/** A try without an answer gives its place back after so long, and is listened for all the same. */
const PLACE_MS = 120;

/** A try whose time runs. */
export interface Timed<T extends Timed<T>> extends Link<T> {
  readonly sentAtMs: number;
  /** The list it is in. */
  list: TryList<T> | undefined;
  giveBackPlace(): void;
}

/** The tries of one number that are out, in the order they were sent. */
export class TryList<T extends Timed<T>> {
  readonly #attempts = new Chain<T>();
  readonly #tryMs: number;
  readonly #expired: (attempt: T) => void;
  /** The first that may still hold its place. */
  #placed: T | undefined;

  /** `expired` is told of each attempt without an answer after `tryMs`; it is out of the list by then. */
  constructor(tryMs: number, expired: (attempt: T) => void) {
    this.#tryMs = tryMs;
    this.#expired = expired;
  }

  add(attempt: T): void {
    attempt.list = this;
    this.#attempts.add(attempt);
    this.#placed ??= attempt;
  }

  remove(attempt: T): void {
    if (this.#placed === attempt) this.#placed = attempt.next;
    attempt.list = undefined;
    this.#attempts.remove(attempt);
  }

  run(nowMs: number): void {
    while (this.#placed !== undefined && this.#placed.sentAtMs + PLACE_MS <= nowMs) {
      const attempt = this.#placed;
      this.#placed = attempt.next;
      attempt.giveBackPlace();
    }
    for (let { first } = this.#attempts; first !== undefined; { first } = this.#attempts) {
      if (first.sentAtMs + this.#tryMs > nowMs) return;
      this.remove(first);
      this.#expired(first);
    }
  }
}
