import { factsOf } from "../core/policy/facts.ts";
import { messageFor } from "../core/policy/messages.ts";
import {
  type CallerFact,
  decide,
  type Decision,
  needsDomainAge,
  type Outcome,
} from "../core/policy/policy.ts";
import type { Asked } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { meantBy } from "../core/validate/malformed.ts";
import type { BudgetedValidation } from "../check/single-check.ts";
import type { PoliciesInForce } from "./in-force.ts";

/** The result of one entry under the active policies. */
export interface Ruling {
  readonly outcome: Outcome;
  /** What the shadow version says; absent when none runs. */
  readonly shadow?: Decision;
  readonly message?: string;
}

export interface Circumstances {
  readonly datasets: Pick<Datasets, "operator">;
  readonly caller: ReadonlyMap<string, CallerFact>;
  readonly mailboxSeen?: number;
  readonly language: string;
}

/** Applies the live policy, and the shadow beside it, to one validated entry. */
export function rule(
  validation: Pick<BudgetedValidation, "entry" | "result" | "mail" | "evidence" | "problem">,
  { live, shadow }: PoliciesInForce,
  { language, ...beside }: Circumstances,
): Ruling {
  const facts = factsOf(validation, beside);
  const outcome = decide(live.policy, facts);
  const message = messageFor(outcome, {
    language,
    meant: meantBy(validation),
    problem: validation.problem,
  });
  return {
    outcome,
    ...(shadow !== undefined && { shadow: decide(shadow.policy, facts).decision }),
    ...(message !== undefined && { message }),
  };
}

/** What has to be checked for the policies: their age conditions need the registry's answer. */
export function askedBy({ live, shadow }: PoliciesInForce, premium: boolean): Asked {
  const wantsAge =
    needsDomainAge(live.policy) || (shadow !== undefined && needsDomainAge(shadow.policy));
  return { features: premium && wantsAge ? ["domain_age"] : [], spamTrap: premium };
}
