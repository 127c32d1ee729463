import type { Owner } from "../../base/owner.ts";
import type { QuotaLimits } from "./quota-counter.ts";

/** What a request is to be charged, and what it may be paid with. */
export interface ChargeTerms {
  readonly owner: Owner;
  /** One for each unique entry. Paid by credits the price is `max(1, units)`. */
  readonly units: number;
  readonly limits: QuotaLimits;
  /** "credits": the request rate is spent, so only they can pay. Never with a bucket. */
  readonly purses: "plan" | "plan_then_credits" | "credits";
  readonly nowMs: number;
}

/** A charge that is written and stays until it is refunded. */
export interface Charge {
  readonly kind: "charged";
  readonly id: string;
  readonly paidBy: "plan" | "credits";
  readonly units: number;
}

/** Nothing was charged. `by` is what is spent: the period of the plan, or the request rate. */
export interface Unpaid {
  readonly kind: "unpaid";
  readonly by: "day" | "month" | "rate";
}

/** Charges that must not be lost: bulk requests, and everything paid by credits. Rules: `test/contracts/admission/charges.ts`. */
export interface Charges {
  /** Charges all or nothing, durably. */
  charge(terms: ChargeTerms): Promise<Charge | Unpaid>;
  /**
   * Sees to it that `units` of the charge have been given back in all, to the purse and the day they came
   * from: a second call with the same number changes nothing. All units give the whole price back.
   */
  refund(chargeId: string, units: number, nowMs: number): Promise<void>;
  /** Forgets charges made before `beforeMs`, which can then not be refunded any more; returns how many. */
  prune(beforeMs: number): Promise<number>;
}
