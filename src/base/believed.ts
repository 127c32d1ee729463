import { LRUCache } from "lru-cache";
import { entriesUpTo } from "./entries.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { type Clock, inTime } from "./clock.ts";
/** A change by another process is seen within 5 s, of which this leaves a second to the question itself. */
const BELIEVED_MS = 4_000;

const KEPT_MAX = 10_000;

/** What a store said of a key, asked for again after 4 s. What it said last holds while it is away or slow. */
export class Believed<T extends object> {
  readonly #clock: Pick<Clock, "monotonicMs" | "after">;
  readonly #failed: (fault: unknown) => void;
  readonly #kept = new LRUCache<string, { readonly value: T; staleAtMs: number }>(
    entriesUpTo(KEPT_MAX),
  );
  readonly #asking = new Map<string, Promise<T | undefined>>();

  /** `failed` hears of faults of the store, and of answers that are missing in time. */
  constructor(clock: Pick<Clock, "monotonicMs" | "after">, failed: (fault: unknown) => void) {
    this.#clock = clock;
    this.#failed = failed;
  }

  /** Undefined: the store has no such thing. "unknown": it did not say, in time or ever. */
  find(
    key: string,
    timeoutMs: number,
    ask: () => Promise<T | undefined>,
  ): Awaitable<T | "unknown" | undefined> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#clock.monotonicMs() < kept.staleAtMs) return kept.value;
    return this.#ask(key, timeoutMs, ask);
  }

  /** All is kept to fall back on, but asked for again; an answer to a question from before is not believed. */
  expire(): void {
    for (const kept of this.#kept.values()) kept.staleAtMs = 0;
    this.#asking.clear();
  }

  async #ask(
    key: string,
    timeoutMs: number,
    ask: () => Promise<T | undefined>,
  ): Promise<T | "unknown" | undefined> {
    const asking = this.#asking.get(key) ?? this.#asked(key, ask());
    const late: T | "unknown" = this.#kept.get(key)?.value ?? "unknown";
    try {
      const found = await inTime(asking, { timeoutMs, late, clock: this.#clock });
      if (found !== "unknown") return found;
      this.#asking.delete(key); // it may never answer: the next call asks again
      throw new Error("the store does not answer in time");
    } catch (fault) {
      this.#failed(fault);
      return late;
    }
  }

  #asked(key: string, answer: Promise<T | undefined>): Promise<T | undefined> {
    const asking = answer
      .then((value) => {
        const isNews = this.#asking.get(key) === asking;
        const staleAtMs = isNews ? this.#clock.monotonicMs() + BELIEVED_MS : 0;
        if (value === undefined) this.#kept.delete(key);
        else this.#kept.set(key, { value, staleAtMs });
        return value;
      })
      .finally(() => {
        if (this.#asking.get(key) === asking) this.#asking.delete(key);
      });
    this.#asking.set(key, asking);
    return asking;
  }
}
