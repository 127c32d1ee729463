import { isoTime } from "../core/calendar.ts";
import type { Datasets } from "../core/datasets.ts";
import { explain, type ExplainedSignal } from "../core/explain.ts";
import type { Validation } from "../core/validate.ts";
import type { CheckAnswer } from "./check-one.ts";
import type { Entrance, Gate } from "./gate.ts";
import { apiKeyRequired } from "./refusals.ts";
import type { SingleCheck } from "./single-check.ts";

/** Charges one unit and says why an entry is judged as it is. Throws a `Refusal` without a key or quota. */
export type ExplainOne = (entrance: Entrance, text: string) => Promise<CheckAnswer>;

export interface ExplainDeps {
  readonly gate: Pick<Gate, "charge">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
}

const NOTHING_ASKED = { features: [], spamTrap: false } as const;

export function createExplain({ gate, check, datasets }: ExplainDeps): ExplainOne {
  return async (entrance, text) => {
    if (entrance.caller.keyId === undefined) throw apiKeyRequired();
    const receipt = await gate.charge(entrance, 1);
    try {
      const validation = await check(text, "either", NOTHING_ASKED);
      const body = JSON.stringify(explanationJson(validation, datasets()));
      return { body, paidBy: receipt.paidBy };
    } catch (fault) {
      await receipt.refund();
      throw fault;
    }
  };
}

/** The API's JSON: the result as a check sends it, and each signal of it explained. */
export function explanationJson(
  validation: Pick<Validation, "result" | "evidence">,
  datasets: Datasets,
): Readonly<Record<string, unknown>> {
  return {
    result: validation.result,
    explanation: explain(validation, datasets).map(signalJson),
    data_version: datasets.version,
  };
}

const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : isoTime(ms);

const signalJson = (each: ExplainedSignal): Readonly<Record<string, unknown>> => ({
  signal: each.signal,
  weight: each.weight,
  means: each.means,
  matched: each.subject ?? null,
  by: each.by,
  lists: each.lists.map(({ id, curated, sinceMs, fetchedAtMs }) => ({
    id,
    curated,
    since: timeOrNull(sinceMs),
    fetched_at: timeOrNull(fetchedAtMs),
  })),
});
