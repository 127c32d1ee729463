import type { OwnerKey } from "../../base/owner.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken } from "./quota-counter.ts";
import type { RateTaking } from "./rate-counter.ts";

export interface RequestLimits extends QuotaLimits {
  /** Requests in a window; null: no limit, and then nothing is counted. */
  readonly ratePerMinute: number | null;
}

/** What one single check came to. */
export interface RequestTaking {
  /** Absent without a rate limit. */
  readonly rate?: RateTaking;
  /** Absent if the rate refused or the counter did not answer: call `QuotaCounter.take` then. */
  readonly unit?: QuotaTaken | QuotaSpent;
}

/**
 * Rate and quota of a single check in one step, for counters behind a network round trip. The same counts as
 * `RateCounter` and `QuotaCounter`, which give back what was taken here.
 */
export interface RequestCounter {
  /** Counts the request and, when its rate is granted, one unit. */
  take(owner: OwnerKey, limits: RequestLimits, nowMs: number): Promise<RequestTaking>;
}
