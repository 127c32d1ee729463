import type { OwnerKey } from "./owner.ts";

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

/** Units taken from the plan. */
export interface UnitsUsed {
  readonly inDay: number;
  readonly inMonth: number;
}

/** What every owner used, by day: the truth of the quota, and the charts. Rules: `test/contracts/usage.ts`. */
export interface UsageLedger {
  /** Adds all or nothing. */
  add(deltas: readonly UsageDelta[]): Promise<void>;
  /** Units in `day` and in its month. */
  unitsUsed(owner: OwnerKey, day: number): Promise<UnitsUsed>;
  /** Days with anything counted, oldest first, both ends included. */
  days(owner: OwnerKey, firstDay: number, lastDay: number): Promise<readonly UsageDay[]>;
  /** Forgets accounts' days before `accountsFrom` and address buckets' days before `bucketsFrom`; how many. */
  prune(days: { readonly accountsFrom: number; readonly bucketsFrom: number }): Promise<number>;
}
