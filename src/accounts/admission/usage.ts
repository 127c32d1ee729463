import type { OwnerKey } from "../../base/owner.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken } from "./quota-counter.ts";

/** Upper edges of the latency buckets in milliseconds; one more bucket holds what is above. */
export const LATENCY_EDGES_MS = [10, 50, 100, 500, 1_000, 5_000] as const;

/** What was counted for an owner on a UTC day, to be added to what is known. Counts may be negative. */
export interface UsageDelta {
  readonly owner: OwnerKey;
  /** Days since the Unix epoch. */
  readonly day: number;
  /** Units taken from the plan. */
  readonly units?: number;
  readonly requests?: number;
  readonly refusals?: number;
  /** Requests by latency, one count for each of `LATENCY_EDGES_MS` and one for what is above. */
  readonly latency?: readonly number[];
}

/** One UTC day of one owner. */
export interface UsageDay {
  readonly day: number;
  readonly units: number;
  readonly credits: number;
  readonly requests: number;
  readonly refusals: number;
  readonly latency: readonly number[];
}

/** What one owner used in some days. */
export interface OwnerTotal {
  readonly owner: OwnerKey;
  /** Units and credits. */
  readonly units: number;
  readonly requests: number;
}

/** Units taken from the plan. */
export interface UnitsUsed {
  readonly inDay: number;
  readonly inMonth: number;
}

/** Units that an owner wants on a UTC day, within limits. */
export interface UnitOrder {
  readonly owner: OwnerKey;
  readonly units: number;
  readonly limits: QuotaLimits;
  readonly day: number;
}

/** What every owner used, by day: the truth of the quota, and the charts. Rules: `test/contracts/admission/usage.ts`. */
export interface UsageLedger {
  /**
   * Adds all or nothing. Whoever is rejected adds the same counts again, with others if need be: then they
   * count once, also where the first attempt had been written and only its answer was lost.
   */
  add(deltas: readonly UsageDelta[]): Promise<void>;
  /** Adds `units` when the day and its month, as they stand here, have room for all of them; one atomic step. */
  take(order: UnitOrder): Promise<QuotaTaken | QuotaSpent>;
  /** Units in `day` and in its month. */
  unitsUsed(owner: OwnerKey, day: number): Promise<UnitsUsed>;
  /** Days with anything counted, oldest first, both ends included. */
  days(owner: OwnerKey, firstDay: number, lastDay: number): Promise<readonly UsageDay[]>;
  /** The same days of all owners together. */
  totals(firstDay: number, lastDay: number): Promise<readonly UsageDay[]>;
  /** The owners that used most in these days, units and credits together, largest first. */
  top(firstDay: number, lastDay: number, max: number): Promise<readonly OwnerTotal[]>;
  /** Forgets accounts' days before `accountsFrom` and address buckets' days before `bucketsFrom`; how many. */
  prune(days: { readonly accountsFrom: number; readonly bucketsFrom: number }): Promise<number>;
}
