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
}

/** Judges entries as single checks do, but for features, which bulk ignores. */
export function coreJudge(deps: CoreJudgeDeps): Judge {
  const { datasets, lookup, again, clock, implicitMx, budgetMs } = deps;
  return async (text, options) => {
    const world = boundLookup(options.again === true ? again : lookup, clock, budgetMs);
    try {
      const asked = { features: [], spamTrap: options.spamTrap };
      const question = { text, mode: "either", asked, nowMs: clock.nowMs(), implicitMx } as const;
      return (await validate(question, { ...world, datasets: datasets() })).result;
    } finally {
      world.end();
    }
  };
}
