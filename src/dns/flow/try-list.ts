import { Chain, type Link } from "../chain.ts";

export interface Timed<T extends Timed<T>> extends Link<T> {
  readonly sentAtMs: number;
  list: TryList<T> | undefined;
}

/** The tries of one number that are under way, in the order they were sent. */
export class TryList<T extends Timed<T>> {
  readonly #attempts = new Chain<T>();
  readonly #tryMs: number;
  readonly #expired: (attempt: T) => void;

  constructor(tryMs: number, expired: (attempt: T) => void) {
    this.#tryMs = tryMs;
    this.#expired = expired;
  }

  add(attempt: T): void {
    attempt.list = this;
    this.#attempts.add(attempt);
  }

  remove(attempt: T): void {
    attempt.list = undefined;
    this.#attempts.remove(attempt);
  }

  run(nowMs: number): void {
    const sentBeforeMs = nowMs - this.#tryMs;
    for (let { first } = this.#attempts; first !== undefined; { first } = this.#attempts) {
      if (first.sentAtMs > sentBeforeMs) return;
      this.remove(first);
      this.#expired(first);
    }
  }
}
