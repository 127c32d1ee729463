import { AwakeClock, type Clock } from "../../base/clock.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { type EntryClass, entryClassOf, tally } from "../../core/batch/batch-chunk.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import { type FullResult, isInconclusive } from "../../core/validate/result.ts";
import { mailOf, type Validation, validationOf } from "../../core/validate/validate.ts";
import type { ChunkOutcome } from "./pack-batch.ts";
import { BoundedLookup } from "../../check/bounded-lookup.ts";

export interface EntryCheckOptions {
  readonly spamTrap: boolean;
  /** The first answer was inconclusive: ask DNS once more, without the cache. */
  readonly again?: true;
  readonly by?: OwnerKey;
}

/** Core checks of one entry, its type inferred. Rejects for a fault only. */
export type EntryCheck = (entry: string, options: EntryCheckOptions) => Promise<FullResult>;

interface CoreEntryCheckDeps {
  readonly datasets: () => Datasets;
  readonly lookup: Lookup;
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

const MODE = "either";

export function coreEntryCheck(deps: CoreEntryCheckDeps): EntryCheck {
  const { clock, datasets, implicitMx, observe } = deps;
  const awake = new AwakeClock(clock);
  const first = sharedBudget(deps.lookup, awake, deps.budgetMs);
  const second = sharedBudget(deps.again, awake, deps.againBudgetMs);
  return async (text, { spamTrap, again, by }) => {
    const { lookup } = (again === true ? second : first)(by);
    const mail = await mailOf({ text, mode: MODE, implicitMx }, lookup);
    const asked = { features: [], spamTrap };
    const question = { text, mode: MODE, asked, nowMs: clock.nowMs(), implicitMx } as const;
    const validation = validationOf(question, mail, datasets());
    if (again === true || mail.kind !== "unknown") observe?.(validation);
    return validation.result;
  };
}

/** Entries of an owner that start within so short a time share one budget, which would cost more than they do. */
const SHARED_FOR_MS = 50;

function sharedBudget(
  lookup: Lookup,
  clock: Clock,
  budgetMs: number,
): (by: OwnerKey | undefined) => BoundedLookup {
  let bounded: BoundedLookup | undefined;
  let owner: OwnerKey | undefined;
  let madeMs = -Infinity;
  return (by) => {
    const nowMs = clock.monotonicMs();
    if (bounded === undefined || owner !== by || nowMs - madeMs >= SHARED_FOR_MS) {
      bounded = new BoundedLookup(lookup, clock, budgetMs, by);
      owner = by;
      madeMs = nowMs;
    }
    return bounded;
  };
}

export interface EntryOutcome {
  readonly text: string;
  readonly kind: EntryClass;
  readonly dns: "conclusive" | "inconclusive" | "not_asked";
}

export const entryOutcome = (result: FullResult): EntryOutcome => ({
  text: JSON.stringify(result),
  kind: entryClassOf(result),
  dns: dnsOutcome(result),
});

function dnsOutcome(result: FullResult): EntryOutcome["dns"] {
  if (!result.format || result.signals.includes("special_use_domain")) return "not_asked";
  return isInconclusive(result) ? "inconclusive" : "conclusive";
}

export const chunkOutcome = (
  entries: readonly string[],
  results: readonly EntryOutcome[],
): ChunkOutcome => ({
  results: results.map(({ text }) => text),
  valid: entries.filter((_, at) => results[at]?.kind === "valid"),
  tally: tally(results.map(({ kind }) => kind)),
});
