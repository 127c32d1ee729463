import { LRUCache } from "lru-cache";
import type { AnswerCache } from "../../ports/answer-cache.ts";

interface Kept {
  readonly body: string;
  readonly expiresAtMs: number;
}

/** Objects and map cells around one entry, in bytes; measured at about 200. */
const OVERHEAD_BYTES = 200;

/** Keeps the most recently used bodies within `maxBytes`, counting keys and overhead. */
export function memoryAnswerCache(maxBytes: number): AnswerCache {
  const cache = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length + OVERHEAD_BYTES,
  });
  return {
    read(key, nowMs) {
      const kept = cache.get(key);
      if (kept === undefined) return undefined;
      if (kept.expiresAtMs > nowMs) return kept.body;
      cache.delete(key);
      return undefined;
    },
    keep(key, body, expiresAtMs) {
      cache.set(key, { body, expiresAtMs });
    },
    clear: () => cache.clear(),
  };
}
