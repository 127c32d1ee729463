import type { RequestedChecks } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { sentenceOf, signalTitle } from "../core/evidence/signals.ts";
import { advise, explain } from "../core/validate/explain.ts";
import { meantBy, withLostAt } from "../core/validate/malformed.ts";
import type { Validation } from "../core/validate/validate.ts";
import { ownerKey } from "../base/owner.ts";
import type { CheckStep } from "./check-shapes.ts";
import type { Admission, Admitted } from "../accounts/admission/admission.ts";
import { type CheckAnswer, orRefund } from "./check-one.ts";
import { denialFields, readWanted, type SortedFeatures, sortFeatures } from "./features.ts";
import type { SingleCheck } from "./single-check.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import { apiKeyRequired } from "../base/refusals.ts";

interface ExplainDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
}

/** Charges one unit and says what the verdict on an entry rests on. Throws a `Refusal` without a key or quota. */
export type ExplainOne = (admitted: Admitted, text: string) => Promise<CheckAnswer>;

export function createExplain(deps: ExplainDeps): ExplainOne {
  return async (admitted, text) => {
    if (admitted.caller.keyId === undefined) throw apiKeyRequired();
    const receipt = await deps.admission.charge(admitted, 1);
    const asked = { features: [], spamTrap: false, by: ownerKey(admitted.caller.owner) };
    return orRefund(receipt, async () => {
      const validation = await deps.check({ text, mode: "either", asked });
      const body = JSON.stringify(explanationJson(validation, deps.datasets()));
      return { body, paidBy: receipt.paidBy };
    });
  };
}

export function explanationJson(
  validation: Pick<Validation, "result" | "evidence" | "problem">,
  datasets: Datasets,
): Readonly<Record<string, unknown>> {
  const { result, problem } = validation;
  return {
    result,
    ...(problem !== undefined && {
      code: problem.code,
      message: problem.message,
      ...(problem.meant !== undefined && { did_you_mean: problem.meant }),
    }),
    explanation: explain(validation, datasets).map(
      ({ signal, weight, means, subject: matched = null, by, lists }) => ({
        signal,
        weight,
        means,
        matched,
        by,
        lists,
      }),
    ),
    data_version: datasets.version,
  };
}

interface AccountCheckDeps extends ExplainDeps {
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  /** Names the service's own resolver while it is away: then nothing is said of the domain. */
  readonly dnsSilence: () => Promise<string | undefined>;
}

export type AccountCheck = (
  admitted: Admitted,
  entry: string,
  features: readonly string[],
) => AsyncGenerator<CheckStep>;

export function createAccountCheck(deps: AccountCheckDeps): AccountCheck {
  return async function* steps(admitted, entry, features) {
    const mode = entry.includes("@") ? "address" : "domain";
    const { premium } = deps.tiers[admitted.caller.tier];
    const sorted = sortFeatures(readWanted(features), { premium });
    const by = ownerKey(admitted.caller.owner);
    const asked: RequestedChecks = { features: sorted.permitted, spamTrap: premium, by };
    const receipt = await deps.admission.charge(admitted, 1);
    try {
      const coreOnly: RequestedChecks = { features: [], spamTrap: false, by };
      const core = await deps.check({ text: entry, mode, asked: coreOnly });
      const isAll = !core.result.format || (asked.features.length === 0 && !asked.spamTrap);
      const show = shower(entry, sorted, deps, admitted.caller.owner.kind === "account");
      if (!isAll) yield await show("core", core);
      yield await show("full", isAll ? core : await deps.check({ text: entry, mode, asked }));
    } catch (fault) {
      await receipt.refund();
      throw fault;
    }
  };
}

export function coreStep(text: string, validation: Validation, datasets: Datasets): CheckStep {
  return {
    step: "full",
    result: validation.result,
    evidence: explain({ evidence: validation.evidence }, datasets).map(
      ({ signal, weight, subject, by, lists }) => ({
        signal,
        title: signalTitle(signal),
        says: sentenceOf(signal, subject),
        weight: Math.round(weight * 100),
        ...(subject !== undefined && { subject }),
        by,
        lists,
      }),
    ),
    advice: [],
    ...repair(text, validation),
  };
}

function repair(text: string, validation: Validation): Pick<CheckStep, "problem" | "meant"> {
  const { problem, result } = validation;
  const meant = meantBy(validation) ?? (result.dns ? undefined : withLostAt(text));
  return {
    ...(problem !== undefined && { problem: problem.message }),
    ...(meant !== undefined && { meant }),
  };
}

const shower =
  (text: string, sorted: SortedFeatures, deps: AccountCheckDeps, isAccount: boolean) =>
  async (step: CheckStep["step"], validation: Validation): Promise<CheckStep> => {
    const { result, unavailable } = validation;
    const isLast = step === "full";
    const scope = { features: sorted.permitted, unavailable };
    const denied = isLast ? denialFields(sorted, unavailable, deps.publicUrl()) : {};
    const isOpen = result.signals.includes("dns_indeterminate");
    const silence = isOpen ? await deps.dnsSilence() : undefined;
    return {
      ...coreStep(text, validation, deps.datasets()),
      step,
      result: { ...result, ...denied },
      advice: isLast && result.format ? advise(result, scope) : [],
      ...(silence !== undefined && { dns_down: isAccount ? silence : "" }),
    };
  };
