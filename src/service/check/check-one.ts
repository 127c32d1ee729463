import type { Awaitable } from "../../core/mail/lookup.ts";
import type { FullResult } from "../../core/validate/result.ts";
import type { Evidence } from "../../core/evidence/signals.ts";
import type { AnswerCache } from "../../ports/process/answer-cache.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { ownerKey } from "../../ports/admission/owner.ts";
import type { Caller } from "../admission/caller.ts";
import {
  type DenialFields,
  denialFields,
  type FeatureName,
  sortFeatures,
  type SortedFeatures,
} from "./features.ts";
import type { Entrance, Admission, Receipt } from "../admission/admission.ts";
import { type OwnEvidence, ownEvidenceFor } from "../evidence/own-spellings.ts";
import type { SingleCheck, TimedValidation } from "./single-check.ts";
import type { Tiers } from "../admission/tiers.ts";

/** A single check as a client asked for it. */
export interface CheckRequest {
  /** Not empty; as sent, blanks included. */
  readonly text: string;
  readonly mode: "address" | "domain";
  /** In the order they were asked, none twice. */
  readonly features: readonly FeatureName[];
}

export interface CheckAnswer {
  /** The JSON body, keys in the contract's order. */
  readonly body: string;
  readonly paidBy: "plan" | "credits";
}

/** Charges one unit and judges one entry. Throws the quota `Refusal`; a fault gives the unit back. */
export type CheckOne = (entrance: Entrance, request: CheckRequest) => Awaitable<CheckAnswer>;

export interface CheckOneDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly cache: AnswerCache;
  readonly clock: Clock;
  readonly tiers: Tiers;
  /** Base of the link to the pricing page. */
  readonly publicUrl: () => string;
  /** Grows when what is known of domains changes; older answers are stale then. */
  readonly datasetsVersion: () => number;
  /** Absent: no account has its traffic counted. */
  readonly ownEvidence?: OwnEvidence;
}

/**
 * No answer is kept longer, whatever DNS says: a domain's age grows by the day, and an operator who mends
 * his DNS should not wait for a day here too.
 */
const KEPT_AT_MOST_MS = 3_600_000;

/** Longer texts are malformed anyway and would fill the cache. */
const KEPT_KEY_MAX_UNITS = 1_024;

export function createCheckOne(deps: CheckOneDeps): CheckOne {
  const answer = (
    asked: Asked,
    receipt: Receipt,
    ownEvidence: readonly Evidence[],
  ): Awaitable<CheckAnswer> => {
    const kept = deps.cache.read(asked.key, deps.clock.nowMs());
    if (kept !== undefined) return { body: kept, paidBy: receipt.paidBy };
    return check({ ...asked, receipt, ownEvidence }, deps);
  };
  const paid = (receipt: Receipt, { caller }: Entrance, asked: Asked): Awaitable<CheckAnswer> => {
    const { text, mode } = asked.request;
    const own = ownEvidenceFor(caller, mode === "address" ? [text] : [], deps.ownEvidence);
    if (!(own instanceof Promise)) return answer(asked, receipt, own(text));
    return own.then((of) => {
      const ownEvidence = of(text);
      const key = ownEvidence.length === 0 ? asked.key : ownKey(asked.key, caller);
      return answer({ ...asked, key }, receipt, ownEvidence);
    });
  };
  return (entrance, request) => {
    const { premium } = deps.tiers[entrance.caller.tier];
    const asked = { request, premium, key: cacheKey(request, premium, deps.datasetsVersion()) };
    const receipt = deps.admission.charge(entrance, 1);
    // A promise in the way of every cached answer would cost more than the answer.
    return receipt instanceof Promise
      ? receipt.then((taken) => paid(taken, entrance, asked))
      : paid(receipt, entrance, asked);
  };
}

interface Asked {
  readonly request: CheckRequest;
  readonly premium: boolean;
  readonly key: string;
}

interface Asker extends Asked {
  readonly receipt: Receipt;
  readonly ownEvidence: readonly Evidence[];
}

const cacheKey = ({ mode, features, text }: CheckRequest, premium: boolean, version: number) =>
  `${String(version)} ${premium ? "premium" : "core"} ${mode} ${features.join(",")} ${text}`;

/** What an account's own counters changed is kept for that account alone. */
const ownKey = (key: string, { owner }: Caller): string => `${ownerKey(owner)} ${key}`;

async function check(asker: Asker, deps: CheckOneDeps): Promise<CheckAnswer> {
  const { request, premium, key, receipt, ownEvidence } = asker;
  const sorted = sortFeatures(request.features, { premium });
  const asked = { features: sorted.permitted, spamTrap: premium };
  try {
    const validation = await deps.check(request.text, request.mode, asked, ownEvidence);
    const body = present(validation, sorted, deps.publicUrl());
    const expiresAtMs = Math.min(validation.expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS);
    if (key.length <= KEPT_KEY_MAX_UNITS) deps.cache.keep(key, body, expiresAtMs);
    return { body, paidBy: receipt.paidBy };
  } catch (fault) {
    await receipt.refund();
    throw fault;
  }
}

/** The JSON of a validation with what must be said of features that it does not hold. */
export function present(
  { result, unavailable }: Pick<TimedValidation, "result" | "unavailable">,
  sorted: SortedFeatures,
  publicUrl: string,
): string {
  const denials = denialFields(sorted, unavailable, publicUrl);
  const full: FullResult & DenialFields = { ...result, ...denials };
  return JSON.stringify(full);
}
