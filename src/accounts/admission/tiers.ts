/** The plans. One table, overridable by the operator (GATEPOST_TIERS_FILE). */

import { DAY_MS } from "../../core/calendar.ts";
import type { Account } from "../account.ts";

export type TierName = "anonymous" | "free" | "new_free" | "starter" | "pro";

export interface Tier {
  /** Requests in a window of 60 s; null: no limit. */
  readonly ratePerMinute: number | null;
  /** Units in a UTC day; null: no limit. */
  readonly daily: number | null;
  /** Units in a UTC month; null: no limit. */
  readonly monthly: number | null;
  /** Unique entries in one bulk request; null: no limit. */
  readonly bulkLimit: number | null;
  readonly premium: boolean;
}

export type Tiers = Readonly<Record<TierName, Tier>>;

/** The contract's table; `new_free` is the first 24 hours of a free account made by sign-up. */
export const DEFAULT_TIERS: Tiers = {
  anonymous: {
    ratePerMinute: 30,
    daily: 1_000,
    monthly: null,
    bulkLimit: 10_000,
    premium: false,
  },
  free: { ratePerMinute: 60, daily: 10_000, monthly: 30_000, bulkLimit: 12_000, premium: false },
  new_free: { ratePerMinute: 10, daily: 1_000, monthly: 30_000, bulkLimit: 12_000, premium: false },
  starter: { ratePerMinute: 120, daily: null, monthly: null, bulkLimit: 25_000, premium: false },
  pro: { ratePerMinute: 500, daily: null, monthly: null, bulkLimit: 100_000, premium: true },
};

/** How long a free account made by sign-up has the limits of `new_free`. */
const NEW_FREE_MS = DAY_MS;

/** The tier whose limits an account has at `nowMs`. */
export function tierOf(
  { tier, origin, createdAtMs }: Pick<Account, "tier" | "origin" | "createdAtMs">,
  nowMs: number,
): TierName {
  const isNew = origin === "signup" && nowMs - createdAtMs < NEW_FREE_MS;
  return tier === "free" && isNew ? "new_free" : tier;
}
