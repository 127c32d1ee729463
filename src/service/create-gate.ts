import type { Awaitable } from "../core/lookup.ts";
import type { Account } from "../ports/accounts.ts";
import type { Charge, Charges, ChargeTerms, Unpaid } from "../ports/charges.ts";
import type { Clock } from "../ports/clock.ts";
import type { KeyHolder, Keys } from "../ports/keys.ts";
import { type OwnerKey, ownerKey } from "../ports/owner.ts";
import type { QuotaCounter, QuotaLimits, QuotaSpent, QuotaTaken } from "../ports/quota-counter.ts";
import type { RateCounter, RateTaking } from "../ports/rate-counter.ts";
import { bucketOf } from "./bucket.ts";
import type { Caller } from "./caller.ts";
import type { Credentials, Entrance, Gate, Receipt } from "./gate.ts";
import { presentedKey } from "./identify.ts";
import { KnownKeys } from "./known-keys.ts";
import { accountDisabled, invalidApiKey, quotaExceeded, rateExceeded } from "./refusals.ts";
import { tierOf, type Tiers } from "./tiers.ts";

export interface GateDeps {
  readonly keys: Pick<Keys, "holder">;
  readonly rates: RateCounter;
  readonly quotas: Pick<QuotaCounter, "take" | "giveBack">;
  readonly charges: Pick<Charges, "charge" | "refund">;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly tiers: Tiers;
}

/** Goes on at once when there is nothing to wait for: most requests then need no promise at all. */
function when<T, U>(value: Awaitable<T>, step: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then((ready) => step(ready)) : step(value);
}

/** An account with the key that named it, or without one. */
type Holder = Pick<KeyHolder, "account"> & Partial<Pick<KeyHolder, "keyId">>;

export function createGate(deps: GateDeps): Gate {
  return new CountingGate(deps);
}

class CountingGate implements Gate {
  readonly #deps: GateDeps;
  readonly #knownKeys: KnownKeys;

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#knownKeys = new KnownKeys(deps);
  }

  enter(credentials: Credentials, clientAddress: string): Awaitable<Entrance> {
    const presented = presentedKey(credentials);
    if (presented.kind === "none") return this.#asStranger(clientAddress);
    if (presented.kind === "invalid") return this.#asIntruder(clientAddress);
    return when(this.#knownKeys.holder(presented.key), (holder) =>
      holder === undefined
        ? this.#asIntruder(clientAddress)
        : this.#asAccount(holder, clientAddress),
    );
  }

  enterAs(account: Account, clientAddress: string): Awaitable<Entrance> {
    return this.#asAccount({ account }, clientAddress);
  }

  charge(entrance: Entrance, units: number): Awaitable<Receipt> {
    const terms = this.terms(entrance, units);
    if (terms.purses === "credits") return this.#payByCredits(entrance, terms);
    const owner = ownerKey(terms.owner);
    const taken = this.#deps.quotas.take(owner, units, terms.limits, terms.nowMs);
    return when(taken, (answer) => this.#afterTaking(entrance, terms, answer));
  }

  terms({ caller, creditsOnly, hasCredits }: Entrance, units: number): ChargeTerms {
    const limits: QuotaLimits = this.#deps.tiers[caller.tier];
    const overflow = hasCredits ? "plan_then_credits" : "plan";
    const purses = creditsOnly === undefined ? overflow : "credits";
    return { owner: caller.owner, units, limits, purses, nowMs: this.#deps.clock.nowMs() };
  }

  receipt(entrance: Entrance, answer: Charge | Unpaid): Awaitable<Receipt> {
    if (answer.kind === "unpaid") throw this.#refusal(entrance, answer);
    const { paidBy, units, id } = answer;
    const { charges, clock } = this.#deps;
    const made: Receipt = { paidBy, units, refund: () => charges.refund(id, units, clock.nowMs()) };
    return paidBy === "credits" ? when(this.#giveRateBack(entrance), () => made) : made;
  }

  #afterTaking(
    entrance: Entrance,
    terms: ChargeTerms,
    answer: QuotaTaken | QuotaSpent,
  ): Awaitable<Receipt> {
    if (answer.kind === "taken")
      return this.#paidByPlan(ownerKey(terms.owner), terms.units, answer.day);
    if (terms.purses === "plan") throw quotaExceeded(answer.period, terms.nowMs);
    return this.#payByCredits(entrance, terms, answer.period);
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
    entrance: Entrance,
    terms: ChargeTerms,
    spent?: "day" | "month",
  ): Promise<Receipt> {
    const answer = await this.#deps.charges.charge({ ...terms, purses: "credits" });
    const isRefused = answer.kind === "unpaid" && spent !== undefined;
    return this.receipt(entrance, isRefused ? { kind: "unpaid", by: spent } : answer);
  }

  #refusal(entrance: Entrance, { by }: Unpaid): Error {
    if (by !== "rate") return quotaExceeded(by, this.#deps.clock.nowMs());
    return entrance.creditsOnly ?? new Error("gate: unpaid by rate without a spent rate");
  }

  #giveRateBack({ caller, rateWindow }: Entrance): Awaitable<void> {
    if (rateWindow === undefined) return undefined;
    return this.#deps.rates.giveBack(ownerKey(caller.owner), rateWindow);
  }

  #stranger(clientAddress: string): Caller {
    const { address, bucket } = bucketOf(clientAddress);
    return { owner: { kind: "bucket", bucket }, tier: "anonymous", clientAddress: address };
  }

  #asStranger(clientAddress: string): Awaitable<Entrance> {
    return this.#count(this.#stranger(clientAddress), (rate) => {
      return rate.isGranted ? {} : { refusal: rateExceeded(rate.closesInMs) };
    });
  }

  /** An invalid key counts against the address, so that guessing is as slow as asking. */
  #asIntruder(clientAddress: string): Awaitable<Entrance> {
    return this.#count(this.#stranger(clientAddress), (rate) => {
      return { refusal: rate.isGranted ? invalidApiKey() : rateExceeded(rate.closesInMs) };
    });
  }

  #asAccount({ keyId, account }: Holder, clientAddress: string): Awaitable<Entrance> {
    const caller: Caller = {
      owner: { kind: "account", accountId: account.id },
      tier: tierOf(account, this.#deps.clock.nowMs()),
      clientAddress: bucketOf(clientAddress).address,
      ...(keyId !== undefined && { keyId }),
    };
    return this.#count(caller, (rate) => this.#accountAnswer(account, rate));
  }

  #accountAnswer(account: Account, rate: RateTaking): Partial<Entrance> {
    if (account.isDisabled) return { refusal: accountDisabled() };
    const hasCredits = account.creditBalance > 0;
    if (rate.isGranted) return { hasCredits };
    const refusal = rateExceeded(rate.closesInMs);
    return hasCredits ? { hasCredits, creditsOnly: refusal } : { refusal };
  }

  #count(caller: Caller, answer: (rate: RateTaking) => Partial<Entrance>): Awaitable<Entrance> {
    const { rates, clock, tiers } = this.#deps;
    const limit = tiers[caller.tier].ratePerMinute;
    if (limit === null) return { caller, hasCredits: false, ...answer(UNLIMITED) };
    const taking = rates.take(ownerKey(caller.owner), limit, clock.monotonicMs());
    return when(taking, (rate) => ({
      caller,
      hasCredits: false,
      rate: { limit, remaining: rate.remaining },
      ...(rate.isGranted && { rateWindow: rate.window }),
      ...answer(rate),
    }));
  }
}

const UNLIMITED: RateTaking = { isGranted: true, remaining: Infinity, closesInMs: 0, window: 0 };
