import type { Awaitable } from "../../core/mail/lookup.ts";
import { when } from "../../core/mail/lookup.ts";
import type { Account } from "../accounts-store.ts";
import type { Charge, Charges, ChargeTerms, Unpaid } from "./charges.ts";
import type { Clock } from "../../base/clock.ts";
import type { KeyHolder } from "../key-store.ts";
import { isApiKey, isPublishableKey } from "../key-text.ts";
import { type OwnerKey, ownerKey } from "../../base/owner.ts";
import {
  memoryRateCounter,
  type QuotaCounter,
  type RateCounter,
  type RateTaking,
  type RequestCounter,
} from "./counters.ts";
import {
  type Caller,
  anonymousAt,
  bucketKey,
  type Credentials,
  keyHolders,
  type KeyHoldersDeps,
  presentedKey,
} from "./caller.ts";
import {
  accountDisabled,
  invalidApiKey,
  quotaExceeded,
  RATE_EXCEEDED,
  rateExceeded,
  type Refusal,
} from "../../base/refusals.ts";
import { limitsOf, tierOf, type Tiers } from "./tiers.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken } from "./usage.ts";

/** A unit of the plan that was counted together with the rate, because the charge for it is likely to come. */
export interface ReservedUnit {
  claim(): QuotaTaken | QuotaSpent | undefined;
  release(): Awaitable<void>;
}

export interface Admitted {
  readonly caller: Caller;
  /** Absent when the tier has no rate limit. Not shown on an answer that credits paid for. */
  readonly rate?: { readonly limit: number; readonly remaining: number };
  readonly rateWindow?: number;
  readonly hasCredits: boolean;
  /** Released by the guard at the request's end, and before it is charged for anything else. */
  readonly reservedUnit?: ReservedUnit;
  /** 401, 403 or 429, to be answered with the rate headers above. Nothing was charged. */
  readonly refusal?: Refusal | undefined;
  readonly isInvalidKey?: true;
  /** The rate is spent, and the request is answered all the same, uncharged: see `uncharged`. */
  readonly spent?: Refusal;
  /** The rate is spent but the account has credits: the charge must be paid by them or the request is refused. */
  readonly creditsOnly?: Refusal;
}

export interface Receipt {
  readonly paidBy: "plan" | "credits";
  readonly units: number;
  /** Gives the charge back whole, to the purse and the day it came from; for work that failed. */
  refund(): Awaitable<void>;
}

interface AdmissionDeps extends Pick<KeyHoldersDeps, "keys" | "notices"> {
  readonly rates: RateCounter;
  /** Of this process, for callers whom a shared store did not identify in time; absent: `rates` is that. */
  readonly localRates?: RateCounter;
  readonly quotas: Pick<QuotaCounter, "take" | "giveBack">;
  /** With counters over the network: the same counts in one round trip. */
  readonly requests?: RequestCounter | undefined;
  readonly charges: Pick<Charges, "charge" | "refund">;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">;
  readonly tiers: Tiers;
}

type Holder = Pick<KeyHolder, "account" | "origins" | "page"> & {
  readonly keyId: string | undefined;
};

export type Admission = Pick<CountingAdmission, keyof CountingAdmission>;

export const createAdmission = (deps: AdmissionDeps): Admission => new CountingAdmission(deps);

/** Of a rate that is spent: how many requests a minute are still answered without a charge. */
const BEYOND_TIMES = 10;
const BEYOND_LEAST = 6_000;

/** Identify, throttle, charge: who may do how much. */
class CountingAdmission {
  readonly #deps: AdmissionDeps;
  readonly #holderOf: ReturnType<typeof keyHolders>;
  readonly #beyond = memoryRateCounter();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    this.#holderOf = keyHolders(deps);
  }

  get countsAhead(): boolean {
    return this.#deps.requests !== undefined;
  }

  /** Identifies and counts one request. Never throws a `Refusal`. `likely` "unit": it looks like a single check. */
  enter(credentials: Credentials, clientAddress: string, likely?: "unit"): Awaitable<Admitted> {
    const presented = presentedKey(credentials);
    if (presented.kind === "none") return this.#asAnonymous(clientAddress, "anonymous", likely);
    if (presented.kind === "invalid") return this.#asAnonymous(clientAddress, "invalid_key");
    const known = this.#holderOf(presented.key);
    return when(known, (holder) =>
      holder === undefined
        ? this.#asAnonymous(clientAddress, "invalid_key")
        : this.#asAccount(holder, clientAddress, likely),
    );
  }

  enterAs(account: Account, clientAddress: string, keyId?: string): Awaitable<Admitted> {
    return this.#asAccount({ account, keyId }, clientAddress);
  }

  /**
   * For a caller that cannot be identified in time: an anonymous one, counted by its address in this process. `away`: the
   * store does not answer, so a server's key gets the highest rate of any plan. With what looks like a publishable key it reads no more than a page may.
   */
  unidentified(
    credentials: Credentials,
    clientAddress: string,
    why: "late" | "away",
  ): Awaitable<Admitted> {
    const presented = presentedKey(credentials);
    const isPublishable = presented.kind === "key" && isPublishableKey(presented.key);
    const { caller: anonymous, owner } = anonymousAt(clientAddress);
    const bringsKey = presented.kind === "key" && isApiKey(presented.key);
    const from: Caller = { ...anonymous, isUnidentified: true, ...(bringsKey && { bringsKey }) };
    const caller: Caller = isPublishable ? { ...from, isPublishable } : from;
    const { rates, localRates = rates, clock, tiers } = this.#deps;
    // A server decides for all of its visitors: as long as nobody can say whose key it has, it gets the rate of any plan.
    const isServer = bringsKey && !isPublishable;
    const limit = isServer && why === "away" ? highestRate(tiers) : tiers.anonymous.ratePerMinute;
    if (limit === null) return admittedAs(caller, "anonymous", limit, UNLIMITED);
    // Beside the address's own count, which the caller may move as well once it is known.
    const taking = localRates.take(["late:", owner].join(""), limit, clock.monotonicMs());
    return when(taking, (rate) => {
      const { rateWindow: _, ...admitted } = admittedAs(caller, "anonymous", limit, rate);
      return admitted;
    });
  }

  /**
   * Lets in who sent a key and whose rate is spent, for work that is cheap and charges nothing: up to ten times the rate,
   * and 6,000 a minute at least, counted by each process.
   */
  uncharged(admitted: Admitted): Admitted {
    const { caller, refusal, rate } = admitted;
    const { isInvalidKey = false } = admitted;
    const hasKey = caller.keyId !== undefined || caller.bringsKey === true || isInvalidKey;
    if (refusal?.code !== RATE_EXCEEDED || !hasKey) return admitted;
    const limit = Math.max(BEYOND_LEAST, BEYOND_TIMES * (rate?.limit ?? 0));
    const isAccount = caller.isPublishable !== true;
    const owner = isAccount ? ownerKey(caller.owner) : bucketKey(caller.clientAddress);
    const taking = this.#beyond.take(owner, limit, this.#deps.clock.monotonicMs());
    if (!taking.isGranted) return { ...admitted, refusal: rateExceeded(taking.closesInMs) };
    if (isInvalidKey) return { ...admitted, refusal: invalidApiKey() };
    return { ...admitted, refusal: undefined, spent: refusal };
  }

  /** Counts `more` requests in the window of this one, for refused work of the same cost. */
  spend({ caller, rateWindow }: Admitted, more: number): Awaitable<void> {
    if (rateWindow === undefined) return undefined;
    return this.#deps.rates.spend(ownerKey(caller.owner), rateWindow, more);
  }

  /**
   * Takes `units` from the plan's day and month, or max(1, units) credits when those are spent and the
   * balance covers all of it. Throws the quota `Refusal` otherwise, nothing charged.
   * Paid by credits, the request's rate count is given back and no rate headers are shown.
   */
  charge(admitted: Admitted, units: number): Awaitable<Receipt> {
    if (admitted.caller.page !== undefined) return this.#payForPage(admitted.caller, units);
    const terms = this.terms(admitted, units);
    if (terms.purses === "credits") return this.#payByCredits(admitted, terms);
    const owner = ownerKey(terms.owner);
    const early = units === 1 ? admitted.reservedUnit?.claim() : undefined;
    const taken = early ?? this.#deps.quotas.take(owner, units, terms.limits, terms.nowMs);
    return when(taken, (answer) =>
      answer.kind === "taken"
        ? this.#paidByPlan(owner, units, answer.day)
        : this.#afterPlan(admitted, terms, answer),
    );
  }

  /** Pages take at most half of the plan, so that they cannot spend what secret keys and hooks need. */
  async #payForPage(caller: Caller, units: number): Promise<Receipt> {
    const { quotas, clock, tiers } = this.#deps;
    const { keyId = "", page, owner } = caller;
    const nowMs = clock.nowMs();
    const key = ["key:", keyId].join("");
    const own = { daily: page?.daily ?? 0, monthly: null };
    const allowed = await quotas.take(key, units, own, nowMs);
    if (allowed.kind === "spent") throw quotaExceeded("day", nowMs, own.daily);
    const { daily, monthly } = limitsOf(tiers, caller);
    const half = { daily: halfOf(daily), monthly: halfOf(monthly) };
    const taken = await quotas.take(ownerKey(owner), units, half, nowMs);
    if (taken.kind === "spent") {
      await quotas.giveBack(key, units, allowed.day);
      throw quotaExceeded(taken.period, nowMs, numberOf(half, taken.period));
    }
    const receipt = this.#paidByPlan(ownerKey(owner), units, taken.day);
    return {
      ...receipt,
      refund: async () => {
        await receipt.refund();
        await quotas.giveBack(key, units, allowed.day);
      },
    };
  }

  /** The same for work whose store writes the charge in its own transaction: what to charge, ... */
  terms({ caller, creditsOnly, hasCredits }: Admitted, units: number): ChargeTerms {
    const limits: QuotaLimits = limitsOf(this.#deps.tiers, caller);
    const overflow = hasCredits ? "plan_then_credits" : "plan";
    const purses = creditsOnly === undefined ? overflow : "credits";
    return { owner: caller.owner, units, limits, purses, nowMs: this.#deps.clock.nowMs() };
  }

  /** ... and what came of it. Throws the `Refusal` of an `Unpaid`. */
  receipt(admitted: Admitted, answer: Charge | Unpaid): Awaitable<Receipt> {
    if (answer.kind === "unpaid") throw this.#refusal(admitted, answer);
    const { paidBy, units, id } = answer;
    const { charges, clock } = this.#deps;
    const made: Receipt = { paidBy, units, refund: () => charges.refund(id, units, clock.nowMs()) };
    return paidBy === "credits" ? when(this.#giveRateBack(admitted), () => made) : made;
  }

  #afterPlan(admitted: Admitted, terms: ChargeTerms, { period }: QuotaSpent): Awaitable<Receipt> {
    if (terms.purses === "plan")
      throw quotaExceeded(period, terms.nowMs, numberOf(terms.limits, period));
    return this.#payByCredits(admitted, terms, period);
  }

  #paidByPlan(owner: OwnerKey, units: number, day: number): Receipt {
    const { quotas } = this.#deps;
    let isRefunded = false;
    return {
      paidBy: "plan",
      units,
      refund: () => {
        if (isRefunded) return;
        isRefunded = true;
        return quotas.giveBack(owner, units, day);
      },
    };
  }

  /** `spent`: the period of the plan that is the reason; absent when it is the rate. */
  async #payByCredits(
    admitted: Admitted,
    terms: ChargeTerms,
    spent?: "day" | "month",
  ): Promise<Receipt> {
    const answer = await this.#deps.charges.charge({ ...terms, purses: "credits" });
    const isRefused = answer.kind === "unpaid" && spent !== undefined;
    return this.receipt(admitted, isRefused ? { kind: "unpaid", by: spent } : answer);
  }

  #refusal(admitted: Admitted, { by }: Unpaid): Error {
    const { tiers, clock } = this.#deps;
    if (by !== "rate") {
      return quotaExceeded(by, clock.nowMs(), numberOf(limitsOf(tiers, admitted.caller), by));
    }
    return admitted.creditsOnly ?? new Error("admission: unpaid by rate without a spent rate");
  }

  #giveRateBack({ caller, rateWindow }: Admitted): Awaitable<void> {
    if (rateWindow === undefined) return undefined;
    return this.#deps.rates.giveBack(ownerKey(caller.owner), rateWindow);
  }

  #asAnonymous(
    clientAddress: string,
    who: "anonymous" | "invalid_key",
    likely?: "unit",
  ): Awaitable<Admitted> {
    const { caller, owner } = anonymousAt(clientAddress);
    return this.#count(caller, owner, who, likely);
  }

  #asAccount(
    { keyId, account, origins, page }: Holder,
    clientAddress: string,
    likely?: "unit",
  ): Awaitable<Admitted> {
    const caller: Filling<Caller> = {
      owner: { kind: "account", accountId: account.id },
      tier: tierOf(account, this.#deps.clock.nowMs()),
      clientAddress: anonymousAt(clientAddress).caller.clientAddress,
    };
    if (account.limits !== undefined) caller.limits = account.limits;
    if (keyId !== undefined) caller.keyId = keyId;
    if (account.trafficSince > 0) caller.trafficSince = account.trafficSince;
    if (account.logsDecisions) caller.logsDecisions = true;
    if (account.tokenSecret !== undefined) caller.tokenSecret = account.tokenSecret;
    if (origins !== undefined)
      return this.#asPublishable({ ...caller, origins, ...(page && { page }) }, account);
    const expected = account.isDisabled ? undefined : likely;
    return this.#count(caller, ownerKey(caller.owner), account, expected);
  }

  /**
   * A publishable key stands in a page that everybody can read: its calls count against the rate of the client
   * address, and their units against the key and the account's plan. The account's credits pay for none.
   */
  #asPublishable(from: Caller, account: Account): Awaitable<Admitted> {
    const caller: Caller = { ...from, isPublishable: true };
    const { rates, clock, tiers } = this.#deps;
    const limit = tiers.anonymous.ratePerMinute;
    const enter = (rate: RateTaking): Admitted => {
      const admitted = admittedAs(caller, "anonymous", limit, rate);
      return account.isDisabled ? { ...admitted, refusal: accountDisabled() } : admitted;
    };
    if (limit === null) return enter(UNLIMITED);
    const { owner } = anonymousAt(caller.clientAddress);
    return when(rates.take(owner, limit, clock.monotonicMs()), enter);
  }

  #count(caller: Caller, owner: OwnerKey, who: Who, likely?: "unit"): Awaitable<Admitted> {
    const { rates, requests, clock, tiers } = this.#deps;
    if (likely === "unit" && requests !== undefined) {
      return this.#countAhead(requests, caller, owner, who);
    }
    const limit = limitsOf(tiers, caller).ratePerMinute;
    if (limit === null) return admittedAs(caller, who, null, UNLIMITED);
    const taking = rates.take(owner, limit, clock.monotonicMs());
    return when(taking, (rate) => admittedAs(caller, who, limit, rate));
  }

  async #countAhead(
    requests: RequestCounter,
    caller: Caller,
    owner: OwnerKey,
    who: Who,
  ): Promise<Admitted> {
    const { quotas, clock, tiers } = this.#deps;
    const limits = limitsOf(tiers, caller);
    const { rate = UNLIMITED, unit } = await requests.take(owner, limits, clock.nowMs());
    const admitted = admittedAs(caller, who, limits.ratePerMinute, rate);
    if (unit === undefined) return admitted;
    admitted.reservedUnit = reservedUnit(unit, (day) => quotas.giveBack(owner, 1, day));
    return admitted;
  }
}

const numberOf = ({ daily, monthly }: QuotaLimits, period: "day" | "month"): number | null =>
  period === "day" ? daily : monthly;

const halfOf = (limit: number | null): number | null =>
  limit === null ? null : Math.floor(limit / 2);

function highestRate(tiers: Tiers): number | null {
  const rates = Object.values(tiers).map(({ ratePerMinute }) => ratePerMinute);
  return rates.reduce((one, other) =>
    one === null || other === null ? null : Math.max(one, other),
  );
}

/** Whose rate was counted: an account's, an address's, or that of an address with an invalid key. */
type Who = Account | "anonymous" | "invalid_key";

const UNLIMITED: RateTaking = { isGranted: true, remaining: Infinity, closesInMs: 0, window: 0 };

/** Still to be filled: an object of our own is not copied to add to it, which a cached answer would feel. */
type Filling<T> = { -readonly [Name in keyof T]: T[Name] };

function admittedAs(
  caller: Caller,
  who: Who,
  limit: number | null,
  rate: RateTaking,
): Filling<Admitted> {
  const hasCredits = typeof who === "object" && !who.isDisabled && who.creditBalance > 0;
  const admitted: Filling<Admitted> = { caller, hasCredits };
  if (limit !== null) {
    admitted.rate = { limit, remaining: rate.remaining };
    if (rate.isGranted) admitted.rateWindow = rate.window;
  }
  if (who === "invalid_key") admitted.isInvalidKey = true;
  const refusal = refusalOf(who, rate);
  // A spent rate is the only thing that credits can make good.
  if (refusal !== undefined) admitted[hasCredits ? "creditsOnly" : "refusal"] = refusal;
  return admitted;
}

function refusalOf(who: Who, rate: RateTaking): Refusal | undefined {
  if (typeof who === "object" && who.isDisabled) return accountDisabled();
  if (!rate.isGranted) return rateExceeded(rate.closesInMs);
  // An invalid key counts against the address, so that guessing is as slow as asking.
  return who === "invalid_key" ? invalidApiKey() : undefined;
}

/** A unit counted before its charge; `giveBack` takes it off the day it was counted on. */
function reservedUnit(
  unit: QuotaTaken | QuotaSpent,
  giveBack: (day: number) => Awaitable<void>,
): ReservedUnit {
  let left: QuotaTaken | QuotaSpent | undefined = unit;
  const claim = (): QuotaTaken | QuotaSpent | undefined => {
    const claimed = left;
    left = undefined;
    return claimed;
  };
  return {
    claim,
    release() {
      const unclaimed = claim();
      return unclaimed?.kind === "taken" ? giveBack(unclaimed.day) : undefined;
    },
  };
}
