import { LRUCache } from "lru-cache";

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
}

const DOMAINS_MAX = 100_000;

/** Lives as long as the process; the domain that was asked longest ago goes first. */
export function memoryRegistrationCache(): RegistrationCache {
  const kept = new LRUCache<string, CachedRegistration>({ max: DOMAINS_MAX });
  return {
    read(domain, nowMs) {
      const answer = kept.get(domain);
      const isFresh = answer !== undefined && answer.expiresAtMs > nowMs;
      return Promise.resolve(isFresh ? answer : undefined);
    },
    save(domain, answer) {
      kept.set(domain, answer);
      return Promise.resolve();
    },
  };
}
