import type { Awaitable } from "../core/mail/lookup.ts";
import { when } from "../core/when.ts";
import type { AnswerCache } from "./answer-cache.ts";
import type { Clock } from "../base/clock.ts";
import { type OwnerKey, ownerKey } from "../base/owner.ts";
import type { Admission, Entrance, Receipt } from "../accounts/admission/admission.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import {
  type FeatureName,
  type SortedFeatures,
  denialFields,
  inContractOrder,
  sortFeatures,
} from "./features.ts";
import type { SingleCheck, TimedValidation } from "./single-check.ts";

/** Does the work that was paid for; a fault gives the unit back. */
export async function orRefund<T>(receipt: Receipt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    await receipt.refund();
    throw fault;
  }
}

export interface CheckRequest {
  /** Not empty; as sent, blanks included. */
  readonly text: string;
  readonly mode: "address" | "domain";
  readonly features: readonly FeatureName[];
}

export interface CheckAnswer {
  readonly body: string;
  readonly paidBy: "plan" | "credits";
}

/** Charges one unit and checks one entry. Throws the quota `Refusal`; a fault gives the unit back. */
export type CheckOne = (entrance: Entrance, request: CheckRequest) => Awaitable<CheckAnswer>;

export interface CheckOneDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly cache: AnswerCache;
  readonly clock: Clock;
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  /** Grows when what is known of domains changes; older answers are stale then. */
  readonly datasetsVersion: () => number;
}

/** Regardless of the DNS TTL: a domain's age grows, and who repairs a DNS record must not wait a day. */
const KEPT_AT_MOST_MS = 3_600_000;

/** Longer texts are malformed anyway and would fill the cache. */
const KEPT_KEY_MAX_UNITS = 1_024;

export function createCheckOne(deps: CheckOneDeps): CheckOne {
  return (entrance, request) => {
    const { caller } = entrance;
    const { premium } = deps.tiers[caller.tier];
    const sorted = sortFeatures(request.features, { premium });
    const key = cacheKey(request, sorted, { premium, version: deps.datasetsVersion() });
    // A promise in the way of every cached answer would cost more than the answer.
    return when(deps.admission.charge(entrance, 1), (receipt) => {
      const kept = deps.cache.read(key, deps.clock.nowMs());
      if (kept === undefined) {
        return check({ request, premium, sorted, key, by: ownerKey(caller.owner) }, receipt, deps);
      }
      return { body: answerOf(kept, sorted, deps.publicUrl), paidBy: receipt.paidBy };
    });
  };
}

interface Asked {
  readonly request: CheckRequest;
  readonly premium: boolean;
  readonly sorted: SortedFeatures;
  readonly key: string;
  readonly by: OwnerKey;
}

/** The order in which features were asked for is not part of it. */
function cacheKey(
  { mode, text }: CheckRequest,
  { permitted }: SortedFeatures,
  { premium, version }: { readonly premium: boolean; readonly version: number },
): string {
  const features = permitted.length === 0 ? "" : inContractOrder(permitted).join(",");
  return `${String(version)} ${premium ? "premium" : "core"} ${mode} ${features} ${text}`;
}

async function check(asked: Asked, receipt: Receipt, deps: CheckOneDeps): Promise<CheckAnswer> {
  const { request, premium, sorted, key, by } = asked;
  const checks = { features: sorted.permitted, spamTrap: premium, by };
  const validation = await orRefund(receipt, async () =>
    deps.check(request.text, request.mode, checks),
  );
  const kept = textToKeep(validation);
  const expiresAtMs = Math.min(validation.expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS);
  if (key.length <= KEPT_KEY_MAX_UNITS) deps.cache.keep(key, kept, expiresAtMs);
  return { body: answerOf(kept, sorted, deps.publicUrl), paidBy: receipt.paidBy };
}

/** The result's JSON; before it, on a line of its own, the checks that could not finish. */
const textToKeep = ({ result, unavailable }: Pick<TimedValidation, "result" | "unavailable">) =>
  `${unavailable.length === 0 ? "" : `${unavailable.join(",")}\n`}${JSON.stringify(result)}`;

/** The kept result with what must be said of features that it does not hold, in the order asked. */
function answerOf(kept: string, sorted: SortedFeatures, publicUrl: () => string): string {
  const hasAll = kept.startsWith("{");
  if (hasAll && sorted.requiresUpgrade.length + sorted.unsupported.length === 0) return kept;
  const end = hasAll ? 0 : kept.indexOf("\n") + 1;
  const missing = kept.slice(0, Math.max(0, end - 1)).split(",");
  const unavailable = sorted.permitted.filter((feature) => missing.includes(feature));
  const denials = JSON.stringify(denialFields(sorted, unavailable, publicUrl()));
  const result = kept.slice(end);
  return denials === "{}" ? result : `${result.slice(0, -1)},${denials.slice(1)}`;
}

/** The JSON of a validation with what must be said of features that it does not hold. */
export const present = (
  validation: Pick<TimedValidation, "result" | "unavailable">,
  sorted: SortedFeatures,
  publicUrl: string,
): string => answerOf(textToKeep(validation), sorted, () => publicUrl);
