import type { RequestedChecks } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { EntryMode } from "../core/address/address.ts";
import type { Awaitable, Lookup, PremiumLookup } from "../core/mail/lookup.ts";
import { conclusionOf, validate, type Validation, type World } from "../core/validate/validate.ts";
import { AwakeClock, type Clock } from "../base/clock.ts";
import { BoundedLookup } from "./bounded-lookup.ts";
import { LRUCache } from "lru-cache";
import { when } from "../core/when.ts";
import { type OwnerKey, ownerKey } from "../base/owner.ts";
import type { Admission, Entrance, Receipt } from "../accounts/admission/admission.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import {
  denialFields,
  type RequestedFeature,
  inContractOrder,
  type SortedFeatures,
  sortFeatures,
} from "./features.ts";

export interface SingleCheckDeps {
  readonly lookup: Lookup;
  readonly datasets: () => Datasets;
  readonly clock: Clock;
  readonly implicitMx: boolean;
}

export interface TimedValidation extends Validation {
  /** Milliseconds since the Unix epoch until which the same question has the same answer. */
  readonly expiresAtMs: number;
}

export type SingleCheck = (
  text: string,
  mode: EntryMode,
  asked: RequestedChecks,
) => Awaitable<TimedValidation>;

export function createSingleCheck(deps: SingleCheckDeps): SingleCheck {
  const check = createBudgetedCheck(deps, new AwakeClock(deps.clock));
  return (text, mode, asked) => check({ text, mode, asked });
}

export interface BudgetedQuestion {
  readonly text: string;
  readonly mode: EntryMode;
  readonly asked: RequestedChecks;
  readonly budgetMs?: number;
}

export interface BudgetedValidation extends TimedValidation {
  /** False when DNS did not say where mail goes, or not in time: silent, failing and suspect resolvers alike. */
  readonly isComplete: boolean;
}

export type BudgetedCheck = (question: BudgetedQuestion) => Promise<BudgetedValidation>;

/** `budgetClock`: by which the budget runs out. */
export function createBudgetedCheck(
  deps: SingleCheckDeps,
  budgetClock: Clock = deps.clock,
): BudgetedCheck {
  return async ({ text, mode, asked, budgetMs }) => {
    const { clock, implicitMx } = deps;
    const bounded = new BoundedLookup(deps.lookup, budgetClock, budgetMs, asked.by);
    const world = new BoundedWorld(deps.datasets(), bounded);
    const question = { text, mode, asked, nowMs: clock.nowMs(), implicitMx };
    try {
      const validation = await validate(question, world);
      const isComplete = !bounded.isUnanswered() && validation.mail?.kind !== "unknown";
      // Nobody else has this object, so it may be added to: a copy by spread costs as much as the check's own work.
      return Object.assign(validation, { expiresAtMs: bounded.expiresAtMs(), isComplete });
    } finally {
      bounded.end();
    }
  };
}

export type CheckWithoutDns = (question: Omit<BudgetedQuestion, "budgetMs">) => BudgetedValidation;

/** Checks by the entry, the lists and the rules alone, at once. */
export const createCheckWithoutDns =
  ({ datasets, clock, implicitMx }: Omit<SingleCheckDeps, "lookup">): CheckWithoutDns =>
  ({ text, mode, asked }) => {
    const question = { text, mode, asked, nowMs: clock.nowMs(), implicitMx };
    const validation = conclusionOf(question, undefined, datasets());
    const isComplete = validation.mail?.kind !== "unknown";
    return Object.assign(validation, { expiresAtMs: 0, isComplete });
  };

/** A class, because an object literal with a getter is slow to make. */
class BoundedWorld implements World {
  readonly datasets: Datasets;
  readonly lookup: Lookup;
  readonly #bounded: BoundedLookup;

  constructor(datasets: Datasets, bounded: BoundedLookup) {
    this.datasets = datasets;
    this.lookup = bounded.lookup;
    this.#bounded = bounded;
  }

  get premium(): PremiumLookup {
    return this.#bounded.premium;
  }
}

/** Bodies of single checks, kept while every DNS answer behind them may be reused. Losing one costs time only. */
export interface BodyCache {
  /** Undefined when there is none, or when it has expired at `nowMs`. */
  read(key: string, nowMs: number): string | undefined;
  keep(key: string, body: string, expiresAtMs: number): void;
  clear(): void;
}

interface CachedBody {
  readonly body: string;
  readonly expiresAtMs: number;
}

/** Objects and map cells around one entry, in bytes; measured at about 200. */
const OVERHEAD_BYTES = 200;

export interface MemoryAnswerCache extends BodyCache {
  reads(): { readonly hits: number; readonly misses: number };
}

/** Keeps the most recently used bodies within `maxBytes`, counting keys and overhead. */
export function memoryAnswerCache(maxBytes: number): MemoryAnswerCache {
  let hits = 0;
  let misses = 0;
  const cache = new LRUCache<string, CachedBody>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length + OVERHEAD_BYTES,
  });
  return {
    read(key, nowMs) {
      const kept = cache.get(key);
      if (kept !== undefined && kept.expiresAtMs > nowMs) {
        hits += 1;
        return kept.body;
      }
      misses += 1;
      if (kept !== undefined) cache.delete(key);
      return undefined;
    },
    keep(key, body, expiresAtMs) {
      cache.set(key, { body, expiresAtMs });
    },
    clear: () => cache.clear(),
    reads: () => ({ hits, misses }),
  };
}

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
  readonly features: readonly RequestedFeature[];
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
  readonly cache: BodyCache;
  readonly clock: Clock;
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  /** Grows when what is known of domains changes; older answers are stale then. */
  readonly datasetsVersion: () => number;
}

/** Regardless of the DNS TTL: a domain's age grows, and who repairs a DNS record must not wait a day. */
export const KEPT_AT_MOST_MS = 3_600_000;

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

interface CheckKey {
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

async function check(asked: CheckKey, receipt: Receipt, deps: CheckOneDeps): Promise<CheckAnswer> {
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
