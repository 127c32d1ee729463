import type { Asked } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { EntryMode } from "../core/address/address.ts";
import type { Awaitable, Lookup, PremiumLookup } from "../core/mail/lookup.ts";
import { validate, type Validation, type World } from "../core/validate/validate.ts";
import { AwakeClock } from "../base/awake-clock.ts";
import type { Clock } from "../base/clock.ts";
import { BoundedLookup } from "./bounded-lookup.ts";

export interface SingleCheckDeps {
  readonly lookup: Lookup;
  readonly datasets: () => Datasets;
  readonly clock: Clock;
  readonly implicitMx: boolean;
}

export interface TimedValidation extends Validation {
  /** Milliseconds since the Unix epoch until which the same question has the same answer. */
  readonly expiresAtMs: number;
}

export type SingleCheck = (
  text: string,
  mode: EntryMode,
  asked: Asked,
) => Awaitable<TimedValidation>;

export function createSingleCheck(deps: SingleCheckDeps): SingleCheck {
  const check = createBudgetedCheck(deps, new AwakeClock(deps.clock));
  return (text, mode, asked) => check({ text, mode, asked });
}

export interface BudgetedQuestion {
  readonly text: string;
  readonly mode: EntryMode;
  readonly asked: Asked;
  readonly budgetMs?: number;
}

export interface BudgetedValidation extends TimedValidation {
  /** False when DNS did not say in time where mail goes. */
  readonly isComplete: boolean;
}

export type BudgetedCheck = (question: BudgetedQuestion) => Promise<BudgetedValidation>;

/** `budgetClock`: by which the budget runs out. */
export function createBudgetedCheck(
  deps: SingleCheckDeps,
  budgetClock: Clock = deps.clock,
): BudgetedCheck {
  return async ({ text, mode, asked, budgetMs }) => {
    const { clock, implicitMx } = deps;
    const bounded = new BoundedLookup(deps.lookup, budgetClock, budgetMs, asked.by);
    const world = new BoundedWorld(deps.datasets(), bounded);
    const question = { text, mode, asked, nowMs: clock.nowMs(), implicitMx };
    try {
      const validation = await validate(question, world);
      const isComplete = !bounded.isUnanswered();
      // Nobody else has this object, so it may be added to: a copy by spread costs as much as the check's own work.
      return Object.assign(validation, { expiresAtMs: bounded.expiresAtMs(), isComplete });
    } finally {
      bounded.end();
    }
  };
}

/** A class, because an object literal with a getter is slow to make. */
class BoundedWorld implements World {
  readonly datasets: Datasets;
  readonly lookup: Lookup;
  readonly #bounded: BoundedLookup;

  constructor(datasets: Datasets, bounded: BoundedLookup) {
    this.datasets = datasets;
    this.lookup = bounded.lookup;
    this.#bounded = bounded;
  }

  get premium(): PremiumLookup {
    return this.#bounded.premium;
  }
}
