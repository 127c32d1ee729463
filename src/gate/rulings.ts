import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { StaleCache } from "../base/stale-cache.ts";
import type { SingleCheck, TimedValidation } from "../check/single-check.ts";
import type { RequestedChecks } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { policyFacts } from "../core/policy/conditions.ts";
import {
  BUILT_IN_POLICIES,
  DEFAULT_NAME,
  DEFAULT_POLICY,
  DEFAULT_VERSION,
  NOTIFY_NAME,
} from "../core/policy/default-policy.ts";
import { messageFor } from "../core/policy/messages.ts";
import { isPolicyName, parsePolicyText, working } from "../core/policy/parse-policy.ts";
import {
  decide,
  decideEarly,
  type Facts,
  type FactSource,
  needsDomainAge,
  type Outcome,
  type Policy,
  untestedFacts,
} from "../core/policy/policy.ts";
import type { CountedQuestion, LaterFacts } from "./traffic.ts";
import { meantBy } from "../core/validate/malformed.ts";
import type { PolicyStore } from "./policy-store.ts";
import type { Notices } from "../store/notices.ts";
import type { PolicyVersionRow } from "../store/tables/policy.ts";

interface ReadyPolicy {
  readonly version: number;
  readonly policy: Policy;
}

export interface PoliciesInForce {
  readonly name: string;
  readonly live: ReadyPolicy;
  readonly shadow?: ReadyPolicy;
}

const builtIn = (name: string, policy: Policy): PoliciesInForce => ({
  name,
  live: { version: DEFAULT_VERSION, policy },
});

export const BUILT_IN = builtIn(DEFAULT_NAME, DEFAULT_POLICY);

const ALL_BUILT_IN = new Map(
  [...BUILT_IN_POLICIES].map(([name, policy]) => [name, builtIn(name, policy)]),
);

export const builtInPolicy = (name: string): PoliciesInForce | undefined => ALL_BUILT_IN.get(name);

export interface FindPoliciesDeps {
  readonly store: Pick<PolicyStore, "inForce">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly log: Pick<Log, "error" | "warn">;
  /** Absent: a change is seen within 5 s. */
  readonly notices?: Pick<Notices, "hear">;
}

/** Versions whose mistakes are said once. */
const SAID_MAX = 1_000;

export function createFindPolicies({ store, clock, log, notices }: FindPoliciesDeps) {
  const failed = (fault: unknown): void => log.error("policies.read_failed", fault);
  const known = new StaleCache<PoliciesInForce>(clock);
  notices?.hear("policies", () => known.expire());
  const said = new LRUCache<string, true>({ max: SAID_MAX });
  /** The plan may have changed since it was saved: a rule about the age of domains then never matches. */
  const ready = ({ account_id: account, name, version, document }: PolicyVersionRow) => {
    const read = parsePolicyText(document, { hasDomainAge: true });
    const policy = working(read);
    if (policy === undefined)
      throw new Error(`policy version ${String(version)} is no JSON object`);
    const place = `${account} ${name} ${String(version)}`;
    if (!read.ok && !said.has(place)) {
      said.set(place, true);
      const parts = read.mistakes.map((mistake) => mistake.split(":")[0] ?? "");
      log.warn("policies.parts_ignored", { account, policy: name, version, parts });
    }
    return { version, policy };
  };
  const read = async (accountId: string, name: string): Promise<PoliciesInForce | undefined> => {
    const { live, shadow } = await store.inForce(accountId, name);
    const decides = live === undefined ? builtInPolicy(name)?.live : ready(live);
    return decides && { name, live: decides, ...(shadow && { shadow: ready(shadow) }) };
  };
  const orBuiltIn = (name: string, found: PoliciesInForce | "unknown" | undefined) =>
    found === "unknown" ? (builtInPolicy(name) ?? BUILT_IN) : found;
  /** Undefined for an unknown name. In `timeoutMs`, with what the store said last, or else the built-in policy. */
  return (
    accountId: string,
    name: string,
    timeoutMs: number,
  ): Awaitable<PoliciesInForce | undefined> => {
    if (!isPolicyName(name)) return undefined;
    const found = known.find(`${accountId} ${name}`, () => read(accountId, name), {
      timeoutMs,
      failed,
    });
    return found instanceof Promise
      ? found.then((one) => orBuiltIn(name, one))
      : orBuiltIn(name, found);
  };
}

export type FindPolicies = ReturnType<typeof createFindPolicies>;

export const checkedEntry = (
  validation: Pick<TimedValidation, "entry" | "result" | "mail" | "evidence" | "problem">,
  datasets: Pick<Datasets, "operator">,
) => ({
  facts: policyFacts(validation, datasets),
  meant: meantBy(validation),
  problem: validation.problem,
});

export type CheckedEntry = ReturnType<typeof checkedEntry>;

/** `facts` are those of the checked entry, and what else is known. */
export function rule(
  checked: CheckedEntry,
  { live, shadow }: PoliciesInForce,
  facts: Facts,
  language: string,
) {
  const outcome = decide(live.policy, facts);
  return {
    outcome,
    shadow: shadow && decide(shadow.policy, facts),
    message: spoken(outcome, checked, language),
  };
}

export type Ruling = ReturnType<typeof rule>;

/** The same while sources are `missing`; undefined as long as one of them can still change it. Without the shadow. */
export function ruleEarly(
  checked: CheckedEntry,
  { live }: PoliciesInForce,
  { language, ...known }: Pick<Facts, "caller" | "confirmed"> & { readonly language: string },
  missing: ReadonlySet<FactSource>,
): Ruling | undefined {
  const outcome = decideEarly(live.policy, { checked: checked.facts, ...known }, missing);
  const message = outcome && spoken(outcome, checked, language);
  return outcome && { outcome, shadow: undefined, message };
}

/** A message that goes out, or an invitation that may. What nobody asked for by a form is not counted. */
export const countsMessage = (
  { question }: CountedQuestion,
  { name }: PoliciesInForce,
  { outcome: { decision } }: Ruling,
): boolean =>
  name !== NOTIFY_NAME &&
  (decision === "accept" || (question === "invite" && decision === "challenge"));

export const countsSources = (
  { question }: CountedQuestion,
  { name }: PoliciesInForce,
  { outcome: { decision } }: Ruling,
): boolean =>
  question === "signup"
    ? decision !== "reject"
    : name !== NOTIFY_NAME && (decision === "accept" || decision === "challenge");

export const PASSING: ReadonlySet<string> = new Set(["too_often", "many"]);

/** Seconds until less was sent or asked lately and another reason decides; undefined: none will. */
export function secondsUntilRuled(
  { live }: PoliciesInForce,
  known: Facts,
  { afterMs, at }: LaterFacts,
): number | undefined {
  const isOver = (ms: number): boolean => {
    const { traffic, counts } = at(ms);
    const then = { ...known, counts, traffic: { ...known.traffic, ...traffic } };
    return !PASSING.has(decide(live.policy, then).reason);
  };
  // Counts only fall, so the first time at which it is over is found by halves.
  let [low, high] = [0, afterMs.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isOver(afterMs[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  const first = afterMs[low];
  return first === undefined ? undefined : Math.ceil(first / 1_000);
}

const spoken = (outcome: Outcome, { meant, problem }: CheckedEntry, language: string) =>
  messageFor(outcome, { language, meant, problem });

export function askedBy({ live, shadow }: PoliciesInForce, premium: boolean): RequestedChecks {
  const wantsAge =
    needsDomainAge(live.policy) || (shadow !== undefined && needsDomainAge(shadow.policy));
  return { features: premium && wantsAge ? ["domain_age"] : [], spamTrap: premium };
}

export function createTestPolicy({
  check,
  datasets,
}: {
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
}) {
  return (
    policy: Policy,
    entries: readonly string[],
    {
      premium,
      language = "en",
      confirmed = false,
    }: { readonly premium: boolean; readonly language?: string; readonly confirmed?: boolean },
  ) => {
    const policies = { name: "tested", live: { version: 0, policy } };
    const asked = askedBy(policies, premium);
    const test = async (entry: string) => {
      const validation = await check({ text: entry, mode: "address", asked });
      const checked = checkedEntry(validation, datasets());
      const { outcome, message } = rule(
        checked,
        policies,
        { checked: checked.facts, caller: new Map(), confirmed },
        language,
      );
      const { result, isComplete } = validation;
      const { meant } = checked;
      const untested = untestedFacts(policy, outcome);
      return {
        entry,
        decision: outcome.decision,
        reason: outcome.reason,
        /** Counts from 0; null: `else`. */
        rule: outcome.rule ?? null,
        ...(message !== undefined && { message }),
        ...(meant !== undefined && { did_you_mean: meant }),
        complete: isComplete,
        // Facts of the account's traffic and feedback, which a test does not count, that rules before this one ask for.
        ...(untested.length > 0 && { untested }),
        result,
      };
    };
    return Promise.all(entries.map(test));
  };
}

export type TestPolicy = ReturnType<typeof createTestPolicy>;
export type PolicyTest = Awaited<ReturnType<TestPolicy>>[number];
