import type { Datasets } from "../evidence/datasets.ts";
import { type Signal, SIGNALS } from "../evidence/signals.ts";
import { explain, type ExplainedSignal, type SaidBy } from "./explain.ts";
import type { FormatCode } from "./malformed.ts";
import type { Validation } from "./validate.ts";

/** Why a result is as it is: one signal, or the fault of a malformed entry. */
export interface Reason {
  /** Stable, for programs. */
  readonly code: Signal | FormatCode;
  /** One sentence in English. */
  readonly message: string;
  /** How strongly it speaks for "disposable", 0 to 1; absent for a malformed entry. */
  readonly weight?: number;
  /** What was matched: a listed name, a mail host, a word, the provider meant. */
  readonly subject?: string;
  /** Who or what says so; absent for a malformed entry. */
  readonly by?: SaidBy;
  /** The lists behind it, where there are any. */
  readonly lists?: readonly string[];
}

/** In the order of `signals`; for a malformed entry its one fault. */
export function reasonsOf(validation: Validation, datasets: Datasets): readonly Reason[] {
  const { problem } = validation;
  if (problem !== undefined) return [{ code: problem.code, message: problem.message }];
  return explain(validation, datasets).map(signalReason);
}

function signalReason({ signal, weight, subject, by, lists }: ExplainedSignal): Reason {
  const { found, short } = SIGNALS[signal];
  return {
    code: signal,
    message: found === null || subject === undefined ? short : `${found(subject)}.`,
    weight,
    ...(subject !== undefined && { subject }),
    by,
    ...(lists.length > 0 && { lists: lists.map(({ id }) => id) }),
  };
}
