import { LRUCache } from "lru-cache";
import type { CachedRegistration, RegistrationCache } from "./registration-cache.ts";

const DOMAINS_MAX = 100_000;

/** Lives as long as the process; the domain that was asked longest ago goes first. */
export function memoryRegistrationCache(): RegistrationCache {
  const kept = new LRUCache<string, CachedRegistration>({ max: DOMAINS_MAX });
  return {
    read(domain, nowMs) {
      const answer = kept.get(domain);
      return Promise.resolve(
        answer !== undefined && answer.expiresAtMs > nowMs ? answer : undefined,
      );
    },
    save(domain, answer) {
      kept.set(domain, answer);
      return Promise.resolve();
    },
    prune(nowMs) {
      const expired = [...kept].filter(([, { expiresAtMs }]) => expiresAtMs <= nowMs);
      for (const [domain] of expired) kept.delete(domain);
      return Promise.resolve(expired.length);
    },
  };
}
