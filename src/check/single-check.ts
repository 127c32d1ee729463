import { type Feature, FEATURES } from "../core/checks/registry.ts";
import type { RequestedChecks } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { EntryMode } from "../core/address/address.ts";
import {
  type Awaitable,
  type Lookup,
  when,
  type Answer,
  type Unknown,
  type Until,
  type UnknownReason,
} from "../core/mail/lookup.ts";
import { validationOf, validate, type Validation } from "../core/validate/validate.ts";
import { AwakeClock, type Clock } from "../base/clock.ts";
import { LRUCache } from "lru-cache";
import { type OwnerKey, ownerKey } from "../base/owner.ts";
import type { Admission, Admitted, Receipt } from "../accounts/admission/admission.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";

interface SingleCheckDeps {
  readonly lookup: Lookup;
  readonly datasets: () => Datasets;
  readonly clock: Clock;
  readonly implicitMx: boolean;
}

interface CheckQuestion {
  readonly text: string;
  readonly mode: EntryMode;
  readonly asked: RequestedChecks;
  /** Absent: `CORE_BUDGET_MS`. */
  readonly budgetMs?: number;
}

export interface TimedValidation extends Validation {
  /** Milliseconds since the Unix epoch until which the same question has the same answer. */
  readonly expiresAtMs: number;
  /** False when DNS did not say where mail goes, or not in time: silent, failing and distrusted resolvers alike. */
  readonly isComplete: boolean;
}

export type SingleCheck = (question: CheckQuestion) => Promise<TimedValidation>;

/** The budget runs out by `budgetClock`, which stands still while the process does, unless given. */
export function createSingleCheck(
  { lookup, datasets, clock, implicitMx }: SingleCheckDeps,
  budgetClock: Clock = new AwakeClock(clock),
): SingleCheck {
  return async ({ text, mode, asked, budgetMs }) => {
    const bounded = new BoundedLookup(lookup, budgetClock, budgetMs, asked.by);
    try {
      const validation = await validate(
        { text, mode, asked, nowMs: clock.nowMs(), implicitMx },
        { datasets: datasets(), lookup: bounded.lookup, within: (ms) => bounded.within(ms) },
      );
      const isComplete = !bounded.isUnanswered() && validation.mail?.kind !== "unknown";
      // Nobody else has this object, so it may be added to: a copy by spread costs as much as the check's own work.
      return Object.assign(validation, { expiresAtMs: bounded.expiresAtMs(), isComplete });
    } finally {
      bounded.end();
    }
  };
}

export type CheckWithoutDns = (question: Omit<CheckQuestion, "budgetMs">) => TimedValidation;

/** Checks by the entry, the lists and the rules alone, at once. */
export const createCheckWithoutDns =
  ({ datasets, clock, implicitMx }: Omit<SingleCheckDeps, "lookup">): CheckWithoutDns =>
  ({ text, mode, asked }) => {
    const question = { text, mode, asked, nowMs: clock.nowMs(), implicitMx };
    const validation = validationOf(question, undefined, datasets());
    const isComplete = validation.mail?.kind !== "unknown";
    return Object.assign(validation, { expiresAtMs: 0, isComplete });
  };

/** Objects and map cells around one entry, in bytes; measured at about 200. */
const OVERHEAD_BYTES = 200;

/** Bodies of single checks, kept while every DNS answer behind them may be reused. Losing one costs time only. */
export class BodyCache {
  readonly #kept: LRUCache<string, { readonly body: string; readonly expiresAtMs: number }>;
  #hits = 0;
  #misses = 0;

  /** Keeps the most recently used bodies within `maxBytes`, counting keys and overhead. */
  constructor(maxBytes: number) {
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ body }, key) => body.length + key.length + OVERHEAD_BYTES,
    });
  }

  read(key: string, nowMs: number): string | undefined {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.expiresAtMs > nowMs) {
      this.#hits += 1;
      return kept.body;
    }
    this.#misses += 1;
    if (kept !== undefined) this.#kept.delete(key);
    return undefined;
  }

  keep(key: string, body: string, expiresAtMs: number): void {
    this.#kept.set(key, { body, expiresAtMs });
  }

  reads(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}

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
export type CheckOne = (admitted: Admitted, request: CheckRequest) => Awaitable<CheckAnswer>;

export interface CheckOneDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly cache: Pick<BodyCache, "read" | "keep">;
  readonly clock: Clock;
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  /** Grows when what is known of domains changes; older answers are stale then. */
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

/** The order in which features were asked for is not part of it. */
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

export const present = (
  validation: Pick<TimedValidation, "result" | "unavailable">,
  sorted: SortedFeatures,
  publicUrl: string,
): string => answerOf(textToKeep(validation), sorted, () => publicUrl);

/** Names that clients of this API ask for and no plan offers. */
type UnsupportedFeature = "smtp" | "catch_all";

export type RequestedFeature = Feature | UnsupportedFeature;

const isUnsupported = (name: string): name is UnsupportedFeature =>
  name === "smtp" || name === "catch_all";

const NAMED: ReadonlyMap<string, RequestedFeature> = new Map(
  [...FEATURES, "smtp" as const, "catch_all" as const].map((name) => [name, name]),
);

export const featureNamed = (text: string): RequestedFeature | undefined =>
  NAMED.get(text.trim().toLowerCase());

/** What `features` parameters and path suffixes ask for: each text may hold several names, parted by commas. */
export function readFeatures(texts: readonly string[]): readonly RequestedFeature[] {
  const named = texts.flatMap((text) => text.split(",")).map(featureNamed);
  return [...new Set(named)].filter((name) => name !== undefined);
}

/** The same for callers that may ask for "all": the command line, the library and the dashboard. */
export const readWanted = (texts: readonly string[]): readonly RequestedFeature[] =>
  texts.some((text) => text.trim().toLowerCase() === "all") ? FEATURES : readFeatures(texts);

export interface SortedFeatures {
  readonly permitted: readonly Feature[];
  readonly requiresUpgrade: readonly Feature[];
  readonly unsupported: readonly UnsupportedFeature[];
}

const NOTHING: SortedFeatures = { permitted: [], requiresUpgrade: [], unsupported: [] };

export function sortFeatures(
  names: readonly RequestedFeature[],
  { premium }: { readonly premium: boolean },
): SortedFeatures {
  if (names.length === 0) return NOTHING;
  const supported = names.filter((name) => !isUnsupported(name));
  return {
    permitted: premium ? supported : [],
    requiresUpgrade: premium ? [] : supported,
    unsupported: names.filter(isUnsupported),
  };
}

export interface DenialFields {
  readonly requires_upgrade?: readonly Feature[];
  readonly upgrade_url?: string;
  readonly upgrade_message?: string;
  readonly unsupported_features?: readonly UnsupportedFeature[];
  readonly temporarily_unavailable_features?: readonly Feature[];
}

/** Keys in the contract's order. `publicUrl` is the base of links, with or without a last slash. */
export function denialFields(
  { requiresUpgrade, unsupported }: SortedFeatures,
  unavailable: readonly Feature[],
  publicUrl: string,
): DenialFields {
  return {
    ...(requiresUpgrade.length === 0
      ? {}
      : {
          requires_upgrade: requiresUpgrade,
          upgrade_url: `${publicUrl.replace(/\/$/, "")}/pricing`,
          upgrade_message: upgradeMessage(requiresUpgrade),
        }),
    ...(unsupported.length === 0 ? {} : { unsupported_features: unsupported }),
    ...(unavailable.length === 0 ? {} : { temporarily_unavailable_features: unavailable }),
  };
}

function upgradeMessage(names: readonly Feature[]): string {
  const verb = names.length === 1 ? "is" : "are";
  return `${names.join(", ")} ${verb} included in the Pro plan. Upgrade to use premium checks.`;
}

const OVERDUE: Unknown = { kind: "unknown", why: "deadline" };

/** The answer without premium fields is sent by then, even when DNS is silent. */
export const CORE_BUDGET_MS = 5_000;

/** Core fields never wait longer than this for premium ones, counted from the start of the request. */
const PREMIUM_BUDGET_MS = 4_000;

/** What is open when its budget is spent, and what is asked later, is `unknown`. Known answers need no promise. */
export class BoundedLookup {
  readonly lookup: Lookup;
  readonly #inner: Lookup;
  readonly #clock: Clock;
  readonly #by: string | undefined;
  readonly #premiumEndMs: number;
  readonly #deadlines: Deadline[] = [];
  #expiresAtMs = Infinity;
  #isUnanswered = false;

  constructor(lookup: Lookup, clock: Clock, coreBudgetMs: number = CORE_BUDGET_MS, by?: string) {
    this.#inner = lookup;
    this.#clock = clock;
    this.#by = by;
    const startedMs = clock.monotonicMs();
    this.#premiumEndMs = startedMs + Math.min(PREMIUM_BUDGET_MS, coreBudgetMs);
    this.lookup = this.#until(startedMs + coreBudgetMs, true);
  }

  /** A lookup for premium checks: it ends so many milliseconds from now, or with their own budget. */
  within(milliseconds: number): Lookup {
    const endMs = this.#clock.monotonicMs() + milliseconds;
    return this.#until(Math.min(endMs, this.#premiumEndMs), false);
  }

  expiresAtMs(): number {
    return this.#expiresAtMs;
  }

  /** Whether a question about mail hosts got no answer: it was overdue, or no name server spoke. */
  isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  end(): void {
    for (const deadline of this.#deadlines) deadline.end();
  }

  #until(atMs: number, isCore: boolean): Lookup {
    const lookup = this.#inner;
    const by = this.#by;
    const deadline = new Deadline(this.#clock, atMs);
    this.#deadlines.push(deadline);
    const note = <T>(answer: Answer<T>): Answer<T> => {
      this.#expiresAtMs = Math.min(this.#expiresAtMs, answer.expiresAtMs ?? 0);
      return answer;
    };
    const noteMail = <T>(answer: Answer<T>): Answer<T> => {
      if (isCore && answer.kind === "unknown" && SILENT.has(answer.why)) this.#isUnanswered = true;
      return note(answer);
    };
    return {
      mx: (name) => deadline.bound(() => lookup.mx(name, by, deadline), noteMail),
      addresses: (host) => deadline.bound(() => lookup.addresses(host, by, deadline), note),
      txt: (name) => deadline.bound(() => lookup.txt(name, by, deadline), note),
      registration: (name) => deadline.bound(() => lookup.registration(name, by, deadline), note),
    };
  }
}

const SILENT: ReadonlySet<UnknownReason> = new Set(["deadline", "timeout", "network"]);

/** One point in time that many questions race; its timer starts with the first that has to wait. */
class Deadline implements Until {
  readonly #clock: Clock;
  readonly #atMs: number;
  readonly #waiting = new Set<() => void>();
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(clock: Clock, atMs: number) {
    this.#clock = clock;
    this.#atMs = atMs;
  }

  get isPast(): boolean {
    // A timer may fire up to 1 ms early by the clock: from then on the clock is not asked.
    this.#isOver ||= this.#clock.monotonicMs() >= this.#atMs;
    return this.#isOver;
  }

  /** Passes the answer to `note`, or `OVERDUE` when it is too late to ask or to wait on. */
  bound<T>(
    ask: () => Awaitable<Answer<T>>,
    note: (answer: Answer<T>) => Answer<T>,
  ): Awaitable<Answer<T>> {
    if (this.isPast) return note(OVERDUE);
    const answer = ask();
    return answer instanceof Promise ? this.#race(answer, note) : note(answer);
  }

  #race<T>(open: Promise<Answer<T>>, note: (answer: Answer<T>) => Answer<T>): Promise<Answer<T>> {
    this.#cancel ??= this.#clock.after(this.#atMs - this.#clock.monotonicMs(), () => this.#fire());
    return new Promise((resolve, reject) => {
      const overdue = (): void => resolve(note(OVERDUE));
      this.#waiting.add(overdue);
      open.then((answer) => {
        if (this.#waiting.delete(overdue)) resolve(note(answer));
      }, reject);
    });
  }

  /** The result is out, or the budget is spent: who asked before waits no longer. */
  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #fire(): void {
    this.#isOver = true;
    for (const overdue of this.#waiting) overdue();
    this.#waiting.clear();
  }
}
