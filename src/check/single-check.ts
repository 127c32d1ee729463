import type { RequestedChecks } from "../core/checks/run.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { EntryMode } from "../core/address/address.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import { validationOf, validate, type Validation } from "../core/validate/validate.ts";
import { AwakeClock, type Clock } from "../base/clock.ts";
import { BoundedLookup } from "./bounded-lookup.ts";

interface SingleCheckDeps {
  readonly lookup: Lookup;
  readonly datasets: () => Datasets;
  readonly clock: Clock;
  readonly implicitMx: boolean;
}

interface CheckQuestion {
  readonly text: string;
  readonly mode: EntryMode;
  readonly asked: RequestedChecks;
  readonly budgetMs?: number;
}

export interface TimedValidation extends Validation {
  /** Milliseconds since the Unix epoch until which the same question has the same answer. */
  readonly expiresAtMs: number;
  /** False when DNS did not say where mail goes, or not in time: silent, failing and distrusted resolvers alike. */
  readonly isComplete: boolean;
}

export type SingleCheck = (question: CheckQuestion) => Promise<TimedValidation>;

/** The budget runs out by `budgetClock`, which stands still while the process does, unless given. */
export function createSingleCheck(
  { lookup, datasets, clock, implicitMx }: SingleCheckDeps,
  budgetClock: Clock = new AwakeClock(clock),
): SingleCheck {
  return async ({ text, mode, asked, budgetMs }) => {
    const bounded = new BoundedLookup(lookup, budgetClock, budgetMs, asked.by);
    try {
      const validation = await validate(
        { text, mode, asked, nowMs: clock.nowMs(), implicitMx },
        { datasets: datasets(), lookup: bounded.lookup, within: (ms) => bounded.within(ms) },
      );
      const isComplete = !bounded.isUnanswered() && validation.mail?.kind !== "unknown";
      // Nobody else has this object, so it may be added to: a copy by spread costs as much as the check's own work.
      return Object.assign(validation, { expiresAtMs: bounded.expiresAtMs(), isComplete });
    } finally {
      bounded.end();
    }
  };
}

export type CheckWithoutDns = (question: Omit<CheckQuestion, "budgetMs">) => TimedValidation;

/** Checks by the entry, the lists and the rules alone, at once. */
export const createCheckWithoutDns =
  ({ datasets, clock, implicitMx }: Omit<SingleCheckDeps, "lookup">): CheckWithoutDns =>
  ({ text, mode, asked }) => {
    const question = { text, mode, asked, nowMs: clock.nowMs(), implicitMx };
    const validation = validationOf(question, undefined, datasets());
    const isComplete = validation.mail?.kind !== "unknown";
    return Object.assign(validation, { expiresAtMs: 0, isComplete });
  };
