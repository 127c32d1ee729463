import { type Decision, type Policy, untestedFacts } from "../core/policy/policy.ts";
import type { FullResult } from "../core/validate/result.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { BudgetedCheck } from "../check/single-check.ts";
import { askedBy, checkedEntry, rule } from "./rule-entry.ts";

/** The decision of a policy about one entry, and its rule; as JSON. */
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

/** The entries, against a policy that need not be saved. */
export type TestPolicy = (
  policy: Policy,
  entries: readonly string[],
  options: { readonly premium: boolean; readonly language?: string },
) => Promise<readonly PolicyTest[]>;

export interface TestPolicyDeps {
  readonly check: BudgetedCheck;
  readonly datasets: () => Datasets;
}

export function createTestPolicy({ check, datasets }: TestPolicyDeps): TestPolicy {
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
