import { advise } from "../core/validate/reasons.ts";
import type { RequestedChecks } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { explain } from "../core/validate/explain.ts";
import { meantBy, withLostAt } from "../core/validate/malformed.ts";
import type { Validation } from "../core/validate/validate.ts";
import { ownerKey } from "../base/owner.ts";
import type { CheckStep, EvidenceShape } from "./check-shapes.ts";
import { listBehindJson } from "./explain.ts";
import { type SortedFeatures, denialFields, readWanted, sortFeatures } from "./features.ts";
import type { Admission, Entrance } from "../accounts/admission/admission.ts";
import type { SingleCheck } from "./single-check.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";

interface AccountCheckDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  /** Whether the service's own resolver is away: then nothing is said of the domain. */
  readonly isDnsDown: () => Promise<boolean>;
}

/** Checks one entry for one unit. Throws the quota `Refusal` before the first step. */
export type AccountCheck = (
  entrance: Entrance,
  entry: string,
  features: readonly string[],
) => AsyncGenerator<CheckStep>;

export function createAccountCheck(deps: AccountCheckDeps): AccountCheck {
  return async function* steps(entrance, entry, features) {
    const mode = entry.includes("@") ? "address" : "domain";
    const { premium } = deps.tiers[entrance.caller.tier];
    const sorted = sortFeatures(readWanted(features), { premium });
    const by = ownerKey(entrance.caller.owner);
    const asked: RequestedChecks = { features: sorted.permitted, spamTrap: premium, by };
    const receipt = await deps.admission.charge(entrance, 1);
    try {
      const coreOnly: RequestedChecks = { features: [], spamTrap: false, by };
      const core = await deps.check(entry, mode, coreOnly);
      const isAll = !core.result.format || (asked.features.length === 0 && !asked.spamTrap);
      const show = shower(entry, sorted, deps);
      if (!isAll) yield await show("core", core);
      yield await show("full", isAll ? core : await deps.check(entry, mode, asked));
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
    evidence: shownEvidence(validation.evidence, datasets),
    advice: [],
    ...repair(text, validation),
  };
}

/** What is wrong with the entry as it is written. A domain that takes mail is one, whatever it looks like. */
function repair(text: string, validation: Validation): Pick<CheckStep, "problem" | "meant"> {
  const { problem, result } = validation;
  const meant = meantBy(validation) ?? (result.dns ? undefined : withLostAt(text));
  return {
    ...(problem !== undefined && { problem: problem.message }),
    ...(meant !== undefined && { meant }),
  };
}

const shownEvidence = (
  evidence: Validation["evidence"],
  datasets: Datasets,
): readonly EvidenceShape[] =>
  explain({ evidence }, datasets).map(({ signal, weight, subject, by, lists }) => ({
    signal,
    weight: Math.round(weight * 100),
    ...(subject !== undefined && { subject }),
    by,
    lists: lists.map(listBehindJson),
  }));

const shower =
  (text: string, sorted: SortedFeatures, deps: AccountCheckDeps) =>
  async (step: CheckStep["step"], validation: Validation): Promise<CheckStep> => {
    const { result, evidence, unavailable } = validation;
    const isLast = step === "full";
    const scope = { features: sorted.permitted, unavailable };
    const denied = isLast ? denialFields(sorted, unavailable, deps.publicUrl()) : {};
    const isDown = result.signals.includes("dns_indeterminate") && (await deps.isDnsDown());
    return {
      step,
      result: { ...result, ...denied },
      evidence: shownEvidence(evidence, deps.datasets()),
      advice: isLast && result.format ? advise(result, scope) : [],
      ...repair(text, validation),
      ...(isDown && { dns_down: true }),
    };
  };
