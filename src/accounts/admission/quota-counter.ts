import type { Awaitable } from "../../core/mail/lookup.ts";
import type { OwnerKey } from "../../base/owner.ts";

/** Units that an owner may take; null: no limit. */
export interface QuotaLimits {
  readonly daily: number | null;
  readonly monthly: number | null;
}

/** The month when both are spent: it is the one that lasts longer. */
export interface QuotaSpent {
  readonly kind: "spent";
  readonly period: "day" | "month";
}

/** Counted on that UTC day, in days since the Unix epoch. */
export interface QuotaTaken {
  readonly kind: "taken";
  readonly day: number;
}

/**
 * Units of every owner in the UTC day and month. Each method is one atomic step: parallel calls at the
 * edge grant exactly what is left. Counts start from the usage ledger, so an owner that was forgotten,
 * or a restart, loses nothing that was written. Rules are checked by `test/contracts/admission/quota-counter.ts`.
 */
export interface QuotaCounter {
  /** Counts `units`, all or none. In the ledger within 250 ms, which is what a kill may lose. */
  take(
    owner: OwnerKey,
    units: number,
    limits: QuotaLimits,
    nowMs: number,
  ): Awaitable<QuotaTaken | QuotaSpent>;
  giveBack(owner: OwnerKey, units: number, day: number): Awaitable<void>;
}
