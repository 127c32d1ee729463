import type { Asked } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { type CheckFacts, factsOf, factsWith } from "../core/policy/conditions.ts";
import { messageFor } from "../core/policy/messages.ts";
import {
  type CallerFact,
  decide,
  type Decision,
  needsDomainAge,
  type Outcome,
  type TrafficFacts,
} from "../core/policy/policy.ts";
import { type FormatProblem, meantBy } from "../core/validate/malformed.ts";
import type { BudgetedValidation } from "../check/single-check.ts";
import type { PoliciesInForce } from "./in-force.ts";

/** What a policy decides on, as the check of one entry left it. */
export interface CheckedEntry {
  readonly facts: CheckFacts;
  readonly meant: string | undefined;
  readonly problem: FormatProblem | undefined;
}

export const checkedEntry = (
  validation: Pick<BudgetedValidation, "entry" | "result" | "mail" | "evidence" | "problem">,
  datasets: Pick<Datasets, "operator">,
): CheckedEntry => ({
  facts: factsOf(validation, datasets),
  meant: meantBy(validation),
  problem: validation.problem,
});

/** The result of one entry under the active policies. */
export interface Ruling {
  readonly outcome: Outcome;
  /** What the shadow version says; absent when none runs. */
  readonly shadow: Decision | undefined;
  readonly message: string | undefined;
}

export interface Circumstances {
  readonly caller: ReadonlyMap<string, CallerFact>;
  readonly traffic?: TrafficFacts | undefined;
  readonly language: string;
}

/** Applies the live policy, and the shadow beside it, to one checked entry. */
export function rule(
  { facts: checked, meant, problem }: CheckedEntry,
  { live, shadow }: PoliciesInForce,
  { caller, traffic, language }: Circumstances,
): Ruling {
  const facts = factsWith(checked, caller, traffic);
  const outcome = decide(live.policy, facts);
  return {
    outcome,
    shadow: shadow && decide(shadow.policy, facts).decision,
    message: messageFor(outcome, { language, meant, problem }),
  };
}

/** What has to be checked for the policies: their age conditions need the registry's answer. */
export function askedBy({ live, shadow }: PoliciesInForce, premium: boolean): Asked {
  const wantsAge =
    needsDomainAge(live.policy) || (shadow !== undefined && needsDomainAge(shadow.policy));
  return { features: premium && wantsAge ? ["domain_age"] : [], spamTrap: premium };
}
