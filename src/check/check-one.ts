import { FEATURES } from "../core/checks/registry.ts";
import { type Awaitable, when } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
import { type OwnerKey, ownerKey } from "../base/owner.ts";
import type { Admission, Admitted, Receipt } from "../accounts/admission/admission.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import type { SingleCheck } from "./single-check.ts";
import { answerOf, type KeptResults, resultToKeep } from "./kept-answers.ts";
import { type RequestedFeature, type SortedFeatures, sortFeatures } from "./features.ts";

export async function orRefund<T>(receipt: Receipt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    await receipt.refund();
    throw fault;
  }
}

export interface CheckRequest {
  readonly text: string;
  readonly mode: "address" | "domain";
  readonly features: readonly RequestedFeature[];
}

export interface CheckAnswer {
  readonly body: string;
  readonly paidBy: "plan" | "credits";
}

/** Charges one unit and checks one entry. Throws the quota `Refusal`; a fault gives the unit back. */
export type CheckOne = (admitted: Admitted, request: CheckRequest) => Awaitable<CheckAnswer>;

export interface CheckOneDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly cache: Pick<KeptResults, "read" | "keep">;
  readonly clock: Clock;
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  readonly datasetsVersion: () => number;
}

/** This bounds the DNS TTL: a domain's age grows, and who repairs a DNS record must not wait a day. */
export const KEPT_AT_MOST_MS = 3_600_000;

/** Longer texts are malformed anyway and would fill the cache. */
const KEPT_KEY_MAX_UNITS = 1_024;

export function createCheckOne(deps: CheckOneDeps): CheckOne {
  return (admitted, request) => {
    const { caller } = admitted;
    const { premium } = deps.tiers[caller.tier];
    const sorted = sortFeatures(request.features, { premium });
    const key = cacheKey(request, sorted, { premium, version: deps.datasetsVersion() });
    // A promise in the way of every cached answer would cost more than the answer.
    return when(deps.admission.charge(admitted, 1), (receipt) => {
      const kept = deps.cache.read(key, deps.clock.nowMs());
      if (kept === undefined) {
        return check({ request, premium, sorted, key, by: ownerKey(caller.owner) }, receipt, deps);
      }
      return { body: answerOf(kept, sorted, deps.publicUrl), paidBy: receipt.paidBy };
    });
  };
}

interface CheckKey {
  readonly request: CheckRequest;
  readonly premium: boolean;
  readonly sorted: SortedFeatures;
  readonly key: string;
  readonly by: OwnerKey;
}

function cacheKey(
  { mode, text }: CheckRequest,
  { permitted }: SortedFeatures,
  { premium, version }: { readonly premium: boolean; readonly version: number },
): string {
  const features =
    permitted.length === 0 ? "" : FEATURES.filter((name) => permitted.includes(name)).join(",");
  return `${String(version)} ${premium ? "premium" : "core"} ${mode} ${features} ${text}`;
}

async function check(asked: CheckKey, receipt: Receipt, deps: CheckOneDeps): Promise<CheckAnswer> {
  const { request, premium, sorted, key, by } = asked;
  const checks = { features: sorted.permitted, spamTrap: premium, by };
  const { text, mode } = request;
  const validation = await orRefund(receipt, () => deps.check({ text, mode, asked: checks }));
  const kept = resultToKeep(validation);
  const expiresAtMs = Math.min(validation.expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS);
  if (key.length <= KEPT_KEY_MAX_UNITS) deps.cache.keep(key, kept, expiresAtMs);
  return { body: answerOf(kept, sorted, deps.publicUrl), paidBy: receipt.paidBy };
}
