import type { RequestedChecks } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import {
  type CheckFacts,
  factsOf,
  factsWith,
  type ReportedFacts,
} from "../core/policy/conditions.ts";
import { messageFor } from "../core/policy/messages.ts";
import {
  type CallerFact,
  decide,
  decideEarly,
  type Decision,
  type FactSource,
  needsDomainAge,
  type Outcome,
  type Policy,
  type TrafficFacts,
  untestedFacts,
} from "../core/policy/policy.ts";
import { type FormatProblem, meantBy } from "../core/validate/malformed.ts";
import type { FullResult } from "../core/validate/result.ts";
import type { SingleCheck, TimedValidation } from "../check/single-check.ts";
import type { PoliciesInForce } from "./in-force.ts";

export interface CheckedEntry {
  readonly facts: CheckFacts;
  readonly meant: string | undefined;
  readonly problem: FormatProblem | undefined;
}

export const checkedEntry = (
  validation: Pick<TimedValidation, "entry" | "result" | "mail" | "evidence" | "problem">,
  datasets: Pick<Datasets, "operator">,
): CheckedEntry => ({
  facts: factsOf(validation, datasets),
  meant: meantBy(validation),
  problem: validation.problem,
});

export interface Ruling {
  readonly outcome: Outcome;
  /** What the shadow version says; absent when none runs. */
  readonly shadow: Outcome | undefined;
  readonly message: string | undefined;
}

export interface Circumstances {
  readonly caller: ReadonlyMap<string, CallerFact>;
  readonly traffic?: TrafficFacts | undefined;
  readonly reported?: ReportedFacts | undefined;
  readonly language: string;
}

/** Applies the live policy, and the shadow beside it, to one checked entry. */
export function rule(
  checked: CheckedEntry,
  { live, shadow }: PoliciesInForce,
  { caller, traffic, reported, language }: Circumstances,
): Ruling {
  const facts = factsWith(checked.facts, caller, traffic, reported);
  const outcome = decide(live.policy, facts);
  return {
    outcome,
    shadow: shadow && decide(shadow.policy, facts),
    message: spoken(outcome, checked, language),
  };
}

/** The same while sources are `missing`; undefined as long as one of them can still change it. Without the shadow. */
export function ruleEarly(
  checked: CheckedEntry,
  { live }: PoliciesInForce,
  { caller, language }: Circumstances,
  missing: ReadonlySet<FactSource>,
): Ruling | undefined {
  const outcome = decideEarly(live.policy, factsWith(checked.facts, caller), missing);
  const message = outcome && spoken(outcome, checked, language);
  return outcome && { outcome, shadow: undefined, message };
}

export const TOO_OFTEN = "too_often";

/** Seconds until less was sent lately and another reason decides; undefined: none will. */
export function secondsUntilRuled(
  { facts }: CheckedEntry,
  { live }: PoliciesInForce,
  { caller, traffic, reported }: Circumstances,
  later: Iterable<{ readonly afterMs: number; readonly facts: TrafficFacts }>,
): number | undefined {
  for (const { afterMs, facts: sent } of later) {
    const then = factsWith(facts, caller, { ...traffic, ...sent }, reported);
    if (decide(live.policy, then).reason !== TOO_OFTEN) return Math.ceil(afterMs / 1_000);
  }
  return undefined;
}

const spoken = (outcome: Outcome, { meant, problem }: CheckedEntry, language: string) =>
  messageFor(outcome, { language, meant, problem });

/** What has to be checked for the policies: their age conditions need the registry's answer. */
export function askedBy({ live, shadow }: PoliciesInForce, premium: boolean): RequestedChecks {
  const wantsAge =
    needsDomainAge(live.policy) || (shadow !== undefined && needsDomainAge(shadow.policy));
  return { features: premium && wantsAge ? ["domain_age"] : [], spamTrap: premium };
}

export interface PolicyTest {
  readonly entry: string;
  readonly decision: Decision;
  readonly reason: string;
  /** Counts from 0; null: `else`. */
  readonly rule: number | null;
  readonly message?: string;
  readonly did_you_mean?: string;
  readonly complete: boolean;
  /** Facts of the account's traffic and feedback, which a test does not count, that rules before this one ask for. */
  readonly untested?: readonly string[];
  readonly result: FullResult;
}

export type TestPolicy = (
  policy: Policy,
  entries: readonly string[],
  options: { readonly premium: boolean; readonly language?: string },
) => Promise<readonly PolicyTest[]>;

export function createTestPolicy({
  check,
  datasets,
}: {
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
}): TestPolicy {
  return (policy, entries, { premium, language = "en" }) => {
    const policies = { name: "tested", live: { version: 0, policy } };
    const asked = askedBy(policies, premium);
    const test = async (entry: string): Promise<PolicyTest> => {
      const validation = await check({ text: entry, mode: "address", asked });
      const checked = checkedEntry(validation, datasets());
      const { outcome, message } = rule(checked, policies, { caller: new Map(), language });
      const { result, isComplete } = validation;
      const { meant } = checked;
      const untested = untestedFacts(policy, outcome);
      return {
        entry,
        decision: outcome.decision,
        reason: outcome.reason,
        rule: outcome.rule ?? null,
        ...(message !== undefined && { message }),
        ...(meant !== undefined && { did_you_mean: meant }),
        complete: isComplete,
        ...(untested.length > 0 && { untested }),
        result,
      };
    };
    return Promise.all(entries.map(test));
  };
}
