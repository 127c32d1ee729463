import { LRUCache } from "lru-cache";

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

/** What a registry said of one domain; nothing of it is about a person. */
export interface CachedRegistration {
  /** Milliseconds since the Unix epoch; undefined: the registry has no such domain, or no date for it. */
  readonly registeredAtMs: number | undefined;
  /** Milliseconds since the Unix epoch. At this instant the answer is gone. */
  readonly expiresAtMs: number;
}

/** Keeps what registries said. Rules are checked by `test/contracts/evidence/registration-cache.ts`. */
export interface RegistrationCache {
  /** Never returns an expired answer, pruned or not. */
  read(domain: string, nowMs: number): Promise<CachedRegistration | undefined>;
  save(domain: string, answer: CachedRegistration): Promise<void>;
  prune(nowMs: number): Promise<number>;
}
