import { ownerKey } from "../base/owner.ts";
import { isoTimeOrNull } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { explain, type ExplainedSignal, type ListBehind } from "../core/validate/explain.ts";
import type { Validation } from "../core/validate/validate.ts";
import { type CheckAnswer, orRefund, type SingleCheck } from "./single-check.ts";
import type { EvidenceShape } from "./check-shapes.ts";
import type { Admission, Entrance } from "../accounts/admission/admission.ts";
import { apiKeyRequired } from "../base/refusals.ts";

/** Charges one unit and says what the verdict on an entry rests on. Throws a `Refusal` without a key or quota. */
export type ExplainOne = (entrance: Entrance, text: string) => Promise<CheckAnswer>;

export interface ExplainDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
}

export function createExplain(deps: ExplainDeps): ExplainOne {
  return async (entrance, text) => {
    if (entrance.caller.keyId === undefined) throw apiKeyRequired();
    const receipt = await deps.admission.charge(entrance, 1);
    const asked = { features: [], spamTrap: false, by: ownerKey(entrance.caller.owner) };
    return orRefund(receipt, async () => {
      const validation = await deps.check(text, "either", asked);
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
    explanation: explain(validation, datasets).map(signalJson),
    data_version: datasets.version,
  };
}

const signalJson = (each: ExplainedSignal): Readonly<Record<string, unknown>> => ({
  signal: each.signal,
  weight: each.weight,
  means: each.means,
  matched: each.subject ?? null,
  by: each.by,
  lists: each.lists.map(listBehindJson),
});

export const listBehindJson = ({
  id,
  curated,
  sinceMs,
  fetchedAtMs,
}: ListBehind): EvidenceShape["lists"][number] => ({
  id,
  curated,
  since: isoTimeOrNull(sinceMs),
  fetched_at: isoTimeOrNull(fetchedAtMs),
});
