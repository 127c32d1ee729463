import type { Datasets } from "../../core/datasets.ts";
import type { Lookup } from "../../core/lookup.ts";
import { validate } from "../../core/validate.ts";
import type { Clock } from "../../ports/clock.ts";
import { boundLookup } from "../bounded-lookup.ts";
import type { Judge } from "./judge.ts";

export interface CoreJudgeDeps {
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
}

/** Judges entries as single checks do, but for features, which bulk ignores. */
export function coreJudge(deps: CoreJudgeDeps): Judge {
  const { datasets, lookup, again, clock, implicitMx } = deps;
  return async (text, options) => {
    const world =
      options.again === true
        ? boundLookup(again, clock, deps.againBudgetMs)
        : boundLookup(lookup, clock, deps.budgetMs);
    try {
      const asked = { features: [], spamTrap: options.spamTrap };
      const question = { text, mode: "either", asked, nowMs: clock.nowMs(), implicitMx } as const;
      return (await validate(question, { ...world, datasets: datasets() })).result;
    } finally {
      world.end();
    }
  };
}
