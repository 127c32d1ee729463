import type { Datasets } from "../evidence/datasets.ts";
import { SIGNALS, type Signal } from "../evidence/signals.ts";
import { type ExplainedSignal, type SaidBy, explain } from "./explain.ts";
import type { FormatCode } from "./malformed.ts";
import type { Validation } from "./validate.ts";
import { type Advised, NOT_NOW, type AdviceWords } from "../checks/check.ts";
import { CHECKS, type Feature, type PremiumFields } from "../checks/registry.ts";
import { spamTrap } from "../checks/spam-trap.ts";

export interface Advice extends AdviceWords {
  readonly check: Feature | "spam_trap";
  readonly title: string;
}

interface AdviceScope {
  readonly features: readonly Feature[];
  readonly unavailable: readonly Feature[];
}

type AdvisedResult = Advised & PremiumFields;

/** One piece of advice for each asked check, in the order asked; the spam trap, where it was checked, at the end. */
export function advise(
  result: AdvisedResult,
  { features, unavailable }: AdviceScope,
): readonly Advice[] {
  const pieces = features.flatMap((feature): readonly Advice[] => {
    const check = CHECKS.find(({ name }) => name === feature);
    if (check === undefined) return [];
    const { name, title } = check;
    return [
      { check: name, title, ...(unavailable.includes(name) ? NOT_NOW : check.advise(result)) },
    ];
  });
  if (result.spam_trap === undefined) return pieces;
  const { name, title } = spamTrap;
  return [...pieces, { check: name, title, ...spamTrap.advise(result) }];
}

/** Why a result is as it is: one signal, or the fault of a malformed entry. */
export interface Reason {
  readonly code: Signal | FormatCode;
  readonly message: string;
  /** How strongly it speaks for "disposable", 0 to 1; absent for a malformed entry. */
  readonly weight?: number;
  /** What was matched: a listed name, a mail host, a word, the provider meant. */
  readonly subject?: string;
  readonly by?: SaidBy;
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
