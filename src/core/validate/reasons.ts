import type { Datasets } from "../evidence/datasets.ts";
import { type Signal, SIGNALS } from "../evidence/signals.ts";
import type { EntryFault } from "../address/entry.ts";
import { explain, type ExplainedSignal, type SaidBy } from "./explain.ts";
import { formatProblem } from "./fault-words.ts";
import type { Validation } from "./validate.ts";

/** Why a result is as it is: one signal, or the fault of a malformed entry. */
export interface Reason {
  /** Stable, for programs. */
  readonly code: Signal | EntryFault;
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
  const { entry } = validation;
  if (entry.kind === "malformed") return [formatReason(entry.fault)];
  return explain(validation, datasets).map(signalReason);
}

export function formatReason(fault: EntryFault): Reason & { readonly code: EntryFault } {
  return { code: fault, message: formatProblem(fault).message };
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
