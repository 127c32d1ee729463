import type { Awaitable } from "../../core/mail/lookup.ts";
import type { Charge, ChargeTerms, Unpaid } from "./charges.ts";
import type { Account } from "../accounts-store.ts";
import type { Caller } from "./caller.ts";
import type { Refusal } from "../../base/refusals.ts";
import type { QuotaSpent, QuotaTaken } from "./usage.ts";

/** What the request carries to say who it is; every value as it was sent, repeated headers as several. */
export interface Credentials {
  readonly apiKey: readonly string[];
  readonly authorization: readonly string[];
}

interface RateState {
  readonly limit: number;
  readonly remaining: number;
}

/** A unit of the plan that was counted together with the rate, because the charge for it is likely to come. */
export interface AdvanceUnit {
  claim(): QuotaTaken | QuotaSpent | undefined;
  release(): Awaitable<void>;
}

export interface Entrance {
  /** For an invalid key: the anonymous caller whose bucket was counted. */
  readonly caller: Caller;
  /** Absent when the tier has no rate limit. Not shown on an answer that credits paid for. */
  readonly rate?: RateState;
  /** Which window counted the request, so that it can be given back. Absent when none did. */
  readonly rateWindow?: number;
  /** The account had credits when it was last asked, at most 5 s ago. */
  readonly hasCredits: boolean;
  /** Released by the guard at the request's end, and before it is charged for anything else. */
  readonly advance?: AdvanceUnit;
  /** 401, 403 or 429, to be answered with the rate headers above. Nothing was charged. */
  readonly refusal?: Refusal;
  /** The rate is spent but the account has credits: the charge must be paid by them or the request is refused. */
  readonly creditsOnly?: Refusal;
}

export interface Receipt {
  readonly paidBy: "plan" | "credits";
  readonly units: number;
  /** Gives the charge back whole, to the purse and the day it came from; for work that failed. */
  refund(): Awaitable<void>;
}

/** Identify, throttle, charge: who may do how much. */
export interface Admission {
  /** Counting needs a network round trip; `enter` can prefetch one unit. */
  readonly countsAhead: boolean;
  /** Identifies and counts one request. Never throws a `Refusal`. `likely` "unit": it looks like a single check. */
  enter(credentials: Credentials, clientAddress: string, likely?: "unit"): Awaitable<Entrance>;
  /**
   * For a caller that cannot be identified in time: an anonymous one, counted by its address in this process. `away`: the
   * store does not answer, so a server's key gets the highest rate of any plan. With what looks like a publishable key it reads no more than a page may.
   */
  unidentified(
    credentials: Credentials,
    clientAddress: string,
    why: "late" | "away",
  ): Awaitable<Entrance>;
  enterAs(account: Account, clientAddress: string, keyId?: string): Awaitable<Entrance>;
  /** Counts `more` requests in the window of this one, for refused work of the same cost. */
  spend(entrance: Entrance, more: number): Awaitable<void>;
  /**
   * Takes `units` from the plan's day and month, or max(1, units) credits when those are spent and the
   * balance covers all of it. Throws the quota `Refusal` otherwise, nothing charged.
   * Paid by credits, the request's rate count is given back and no rate headers are shown.
   */
  charge(entrance: Entrance, units: number): Awaitable<Receipt>;
  /** The same for work whose store writes the charge in its own transaction: what to charge, ... */
  terms(entrance: Entrance, units: number): ChargeTerms;
  /** ... and what came of it. Throws the `Refusal` of an `Unpaid`. */
  receipt(entrance: Entrance, answer: Charge | Unpaid): Awaitable<Receipt>;
}
