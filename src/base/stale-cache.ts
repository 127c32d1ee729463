import { LRUCache } from "lru-cache";
import type { Awaitable } from "../core/mail/lookup.ts";
import { type Clock, inTime } from "./clock.ts";
import { entriesUpTo } from "./entries.ts";

/** A change by another process is seen within 5 s, of which this leaves a second to the question itself. */
const BELIEVED_MS = 4_000;

const KEPT_MAX = 20_000;

interface InTime {
  readonly timeoutMs: number;
  /** It hears of faults of the store, and of answers that are missing in time. */
  readonly failed: (fault: unknown) => void;
}

/** What a store said of a key, asked for again after 4 s. Twins of a question share its answer. */
export class StaleCache<T extends object> {
  readonly #clock: Pick<Clock, "monotonicMs" | "after">;
  readonly #kept = new LRUCache<string, { readonly value: T; staleAtMs: number }>(
    entriesUpTo(KEPT_MAX),
  );
  readonly #asking = new Map<string, Promise<T | undefined>>();

  constructor(clock: Pick<Clock, "monotonicMs" | "after">) {
    this.#clock = clock;
  }

  fresh(key: string): T | undefined {
    const kept = this.#kept.get(key);
    return kept && this.#clock.monotonicMs() < kept.staleAtMs ? kept.value : undefined;
  }

  /** Undefined: the store has no such thing. Rejects as `ask` does. */
  read(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.#asking.get(key) ?? this.#ask(key, ask());
  }

  /** What the store said last holds while it is away or slow; "unknown": it never said anything. Never rejects. */
  find(
    key: string,
    ask: () => Promise<T | undefined>,
    terms: InTime,
  ): Awaitable<T | "unknown" | undefined> {
    return this.fresh(key) ?? this.#inTime(key, this.read(key, ask), terms);
  }

  /** All is kept to fall back on, but asked for again; an answer to a question from before is not believed. */
  expire(): void {
    for (const kept of this.#kept.values()) kept.staleAtMs = 0;
    this.#asking.clear();
  }

  async #inTime(
    key: string,
    asking: Promise<T | undefined>,
    { timeoutMs, failed }: InTime,
  ): Promise<T | "unknown" | undefined> {
    const late: T | "unknown" = this.#kept.get(key)?.value ?? "unknown";
    try {
      const found = await inTime(asking, { timeoutMs, late, clock: this.#clock });
      if (found !== "unknown") return found;
      this.#asking.delete(key); // it may never answer: the next call asks again
      throw new Error("the store does not answer in time");
    } catch (fault) {
      failed(fault);
      return late;
    }
  }

  #ask(key: string, answer: Promise<T | undefined>): Promise<T | undefined> {
    const believedUntilMs = this.#clock.monotonicMs() + BELIEVED_MS;
    const asking = answer
      .then((value) => {
        const staleAtMs = this.#asking.get(key) === asking ? believedUntilMs : 0;
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
