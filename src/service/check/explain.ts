import { isoTimeOrNull } from "../../core/calendar.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import { explain, type ExplainedSignal, type ListBehind } from "../../core/validate/explain.ts";
import type { Validation } from "../../core/validate/validate.ts";
import { formatProblem } from "../../core/validate/fault-words.ts";
import type { CheckAnswer } from "./check-one.ts";
import type { Entrance, Admission } from "../admission/admission.ts";
import { type OwnEvidence, ownEvidenceFor } from "../evidence/own-spellings.ts";
import { apiKeyRequired } from "../refusals.ts";
import type { SingleCheck } from "./single-check.ts";

/** Charges one unit and says why an entry is judged as it is. Throws a `Refusal` without a key or quota. */
export type ExplainOne = (entrance: Entrance, text: string) => Promise<CheckAnswer>;

export interface ExplainDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
  /** Absent: no account has its traffic counted. */
  readonly ownEvidence?: OwnEvidence;
}

const NOTHING_ASKED = { features: [], spamTrap: false } as const;

export function createExplain({
  admission,
  check,
  datasets,
  ownEvidence,
}: ExplainDeps): ExplainOne {
  return async (entrance, text) => {
    if (entrance.caller.keyId === undefined) throw apiKeyRequired();
    const receipt = await admission.charge(entrance, 1);
    try {
      const own = await ownEvidenceFor(entrance.caller, [text], ownEvidence);
      const validation = await check(text, "either", NOTHING_ASKED, own(text));
      const body = JSON.stringify(explanationJson(validation, datasets()));
      return { body, paidBy: receipt.paidBy };
    } catch (fault) {
      await receipt.refund();
      throw fault;
    }
  };
}

/** The API's JSON: the result as a check sends it, why the format is bad, and each signal explained. */
export function explanationJson(
  validation: Pick<Validation, "entry" | "result" | "evidence">,
  datasets: Datasets,
): Readonly<Record<string, unknown>> {
  const { entry, result } = validation;
  return {
    result,
    ...(entry.kind === "malformed" ? formatProblem(entry.fault) : {}),
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

/** A list behind a signal: since when it holds the name and when it was fetched; null: it came with the program. */
export interface ListBehindJson {
  readonly id: string;
  readonly curated: boolean;
  readonly since: string | null;
  readonly fetched_at: string | null;
}

export const listBehindJson = ({
  id,
  curated,
  sinceMs,
  fetchedAtMs,
}: ListBehind): ListBehindJson => ({
  id,
  curated,
  since: isoTimeOrNull(sinceMs),
  fetched_at: isoTimeOrNull(fetchedAtMs),
});
