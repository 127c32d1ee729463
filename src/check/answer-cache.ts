import { LRUCache } from "lru-cache";

/** Bodies of single checks, kept while every DNS answer behind them may be reused. Losing one costs time only. */
export interface AnswerCache {
  /** Undefined when there is none, or when it has expired at `nowMs`. */
  read(key: string, nowMs: number): string | undefined;
  keep(key: string, body: string, expiresAtMs: number): void;
  clear(): void;
}

interface Kept {
  readonly body: string;
  readonly expiresAtMs: number;
}

/** Objects and map cells around one entry, in bytes; measured at about 200. */
const OVERHEAD_BYTES = 200;

export interface MemoryAnswerCache extends AnswerCache {
  reads(): { readonly hits: number; readonly misses: number };
}

/** Keeps the most recently used bodies within `maxBytes`, counting keys and overhead. */
export function memoryAnswerCache(maxBytes: number): MemoryAnswerCache {
  let hits = 0;
  let misses = 0;
  const cache = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length + OVERHEAD_BYTES,
  });
  return {
    read(key, nowMs) {
      const kept = cache.get(key);
      if (kept !== undefined && kept.expiresAtMs > nowMs) {
        hits += 1;
        return kept.body;
      }
      misses += 1;
      if (kept !== undefined) cache.delete(key);
      return undefined;
    },
    keep(key, body, expiresAtMs) {
      cache.set(key, { body, expiresAtMs });
    },
    clear: () => cache.clear(),
    reads: () => ({ hits, misses }),
  };
}
