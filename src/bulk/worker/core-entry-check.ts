import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import { validationOf, mailOf, type Validation } from "../../core/validate/validate.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { AwakeClock, type Clock } from "../../base/clock.ts";
import { BoundedLookup } from "../../check/bounded-lookup.ts";
import type { EntryCheck } from "./process-chunk.ts";

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

/** Checks entries like single checks, without features, which bulk ignores. */
export function coreEntryCheck(deps: CoreEntryCheckDeps): EntryCheck {
  const awake = new AwakeClock(deps.clock);
  const first = sharedBudget(deps.lookup, awake, deps.budgetMs);
  const second = sharedBudget(deps.again, awake, deps.againBudgetMs);
  return async (text, options) => {
    const { lookup } = (options.again === true ? second : first)(options.by);
    const { clock, datasets, implicitMx, observe } = deps;
    const mail = await mailOf({ text, mode: MODE, implicitMx }, lookup);
    const isAnswered = mail.kind !== "unknown";
    return {
      isAnswered,
      weight: mail.kind === "hosts" ? mail.hosts.length : 1,
      result() {
        const asked = { features: [], spamTrap: options.spamTrap };
        const question = { text, mode: MODE, asked, nowMs: clock.nowMs(), implicitMx } as const;
        const validation = validationOf(question, mail, datasets());
        if (options.again === true || isAnswered) observe?.(validation);
        return validation.result;
      },
    };
  };
}

const MODE = "either";
