import type { Clock } from "./clock.ts";

export interface WriteBehindOptions<T> {
  readonly afterMs: number;
  readonly retryAfterMs?: number;
  readonly mayWrite?: (key: string) => boolean;
  /** Items of one transaction: short, because others wait for it. */
  readonly batch: number;
  /** What may wait, in units of `sizeOf`. What does not fit is counted as lost. */
  readonly max: number;
  readonly sizeOf?: (item: T) => number;
  /** Two items under one key become one. It may change and return `older`. */
  readonly merge: (older: T, newer: T) => T;
  readonly save: (items: readonly T[]) => Promise<void>;
  readonly clock: Pick<Clock, "after">;
  /** The first timed write of an outage failed, or a later one and something was lost: `lost` did not fit since the last call. */
  readonly failed: (fault: unknown, lost: number) => void;
}

/** Collects what may be lost with a kill. What a store does not take is merged with what comes meanwhile. */
export class WriteBehind<T> {
  readonly #options: WriteBehindOptions<T>;
  #waiting = new Map<string, T>();
  #writing = new Map<string, T>();
  #size = 0;
  #lost = 0;
  #isArmed = false;
  #hasFailed = false;
  /** Whether `failed` was called in this outage. */
  #isTold = false;
  /** One write after the other: a caller that waits for the last has waited for the one that a timer began. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: WriteBehindOptions<T>) {
    this.#options = options;
  }

  note(key: string, item: T): void {
    this.#put(key, item);
    this.#arm();
  }

  /** What waits under this key; it may be changed as long as its size stays. */
  waiting(key: string): T | undefined {
    return this.#waiting.get(key);
  }

  under(key: string): readonly T[] {
    return [this.#writing, this.#waiting].flatMap((items) => items.get(key) ?? []);
  }

  settled(): Promise<void> {
    return this.#last;
  }

  flush(): Promise<void> {
    const written = this.#last.then(() => this.#write());
    this.#last = written.catch(() => undefined);
    return written;
  }

  #put(key: string, item: T): void {
    const { max, merge, sizeOf } = this.#options;
    const older = this.#waiting.get(key);
    const olderSize = older === undefined ? 0 : (sizeOf?.(older) ?? 1);
    const merged = older === undefined ? item : merge(older, item);
    const grown = (sizeOf?.(merged) ?? 1) - olderSize;
    if (grown > 0 && this.#size + grown > max) {
      this.#lost += grown;
      return;
    }
    this.#size += grown;
    if (merged !== older) this.#waiting.set(key, merged);
  }

  async #write(): Promise<void> {
    const { batch, save } = this.#options;
    this.#takeOut();
    const all = [...this.#writing];
    try {
      for (let from = 0; from < all.length; from += batch) {
        const some = all.slice(from, from + batch);
        await save(some.map(([, item]) => item));
        for (const [key] of some) this.#writing.delete(key);
      }
      this.#hasFailed = false;
      this.#isTold = false;
    } catch (fault) {
      this.#hasFailed = true;
      this.#refill(this.#writing, this.#waiting);
      this.#writing = new Map();
      throw fault;
    } finally {
      if (this.#waiting.size > 0) this.#arm();
    }
  }

  #takeOut(): void {
    const { mayWrite = () => true } = this.#options;
    const all = [...this.#waiting];
    this.#writing = new Map(all.filter(([key]) => mayWrite(key)));
    this.#refill(new Map(all.filter(([key]) => !this.#writing.has(key))));
  }

  #refill(...older: readonly ReadonlyMap<string, T>[]): void {
    this.#waiting = new Map();
    this.#size = 0;
    for (const items of older) for (const [key, item] of items) this.#put(key, item);
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    const { clock, afterMs, retryAfterMs = afterMs, failed } = this.#options;
    clock.after(this.#hasFailed ? retryAfterMs : afterMs, () => {
      this.#isArmed = false;
      this.flush().catch((fault: unknown) => {
        const lost = this.#lost;
        this.#lost = 0;
        if (!this.#isTold || lost > 0) failed(fault, lost);
        this.#isTold = true;
      });
    });
  }
}

export function addCount<T extends { count: number }>(older: T, newer: T): T {
  older.count += newer.count;
  return older;
}
