import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import { isInconclusive } from "../../core/validate/result.ts";
import { validate, type Validation } from "../../core/validate/validate.ts";
import { awakeClock } from "../../ports/process/awake-clock.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { type BoundedLookup, boundLookup } from "../check/bounded-lookup.ts";
import type { EntryCheck } from "./entry-check.ts";

export interface CoreEntryCheckDeps {
  readonly datasets: () => Datasets;
  readonly lookup: Lookup;
  /** Asks anew what `lookup` remembers as inconclusive. */
  readonly again: Lookup;
  readonly clock: Clock;
  readonly implicitMx: boolean;
  /** What DNS has not said by then, counted from the start of an entry, is inconclusive. */
  readonly budgetMs: number;
  /** The same for the second time; dead names cost this much once more. */
  readonly againBudgetMs: number;
  /** Called for each result; for an inconclusive one only the second time, because most entries have one. */
  readonly observe?: (validation: Validation) => void;
}

/** Entries that start within so short a time share one budget, which would cost more than they do. */
const SHARED_FOR_MS = 50;

function sharedBudget(lookup: Lookup, clock: Clock, budgetMs: number): () => BoundedLookup {
  let bounded: BoundedLookup | undefined;
  let madeMs = -Infinity;
  return () => {
    const nowMs = clock.monotonicMs();
    if (bounded === undefined || nowMs - madeMs >= SHARED_FOR_MS) {
      bounded = boundLookup(lookup, clock, budgetMs);
      madeMs = nowMs;
    }
    return bounded;
  };
}

/** Checks entries like single checks, without features, which bulk ignores. */
export function coreEntryCheck(deps: CoreEntryCheckDeps): EntryCheck {
  const { datasets, clock, implicitMx } = deps;
  const awake = awakeClock(clock);
  const first = sharedBudget(deps.lookup, awake, deps.budgetMs);
  const second = sharedBudget(deps.again, awake, deps.againBudgetMs);
  return (text, options) => {
    const { lookup, premium } = options.again === true ? second() : first();
    const asked = { features: [], spamTrap: options.spamTrap };
    const ownEvidence = options.ownEvidence?.(text) ?? [];
    const nowMs = clock.nowMs();
    const question = { text, mode: "either", asked, nowMs, implicitMx, ownEvidence } as const;
    return validate(question, { lookup, premium, datasets: datasets() }).then((validation) => {
      const { result } = validation;
      if (options.again === true || !isInconclusive(result)) deps.observe?.(validation);
      return result;
    });
  };
}
