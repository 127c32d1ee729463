import { mailEverywhere, noDatasets } from "./bulk-world.ts";
import { coreEntryCheck } from "../../src/bulk/jobs/entry-check.ts";
import type { EntryCheck } from "../../src/bulk/jobs/entry-check.ts";
import { manualClock } from "../time/manual-clock.ts";

/** Judges by a lookup that can be put out. */
export function switchedCheck(): { readonly check: EntryCheck; isDown: boolean; asked: number } {
  const clock = manualClock();
  const lookup = mailEverywhere(() => state.isDown);
  const budgets = { budgetMs: 5_000, againBudgetMs: 1_700 };
  const real = { datasets: () => noDatasets, lookup, again: lookup, clock, implicitMx: false };
  const checkNow = coreEntryCheck({ ...real, ...budgets });
  const state = {
    isDown: false,
    asked: 0,
    check: (entry: string, options: Parameters<EntryCheck>[1]) => {
      state.asked += 1;
      return checkNow(entry, options);
    },
  };
  return state;
}
