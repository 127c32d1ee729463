import type { Asked } from "../../core/checks/run.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { EntryMode } from "../../core/address/entry.ts";
import type { Awaitable, Lookup } from "../../core/mail/lookup.ts";
import type { Evidence } from "../../core/evidence/signals.ts";
import { validate, type Validation } from "../../core/validate/validate.ts";
import { awakeClock } from "../../ports/process/awake-clock.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { boundLookup } from "./bounded-lookup.ts";

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

/** Validates one entry within the time budgets of a single check. `ownEvidence`: see `Question`. */
export type SingleCheck = (
  text: string,
  mode: EntryMode,
  asked: Asked,
  ownEvidence?: readonly Evidence[],
) => Awaitable<TimedValidation>;

export function createSingleCheck(deps: SingleCheckDeps): SingleCheck {
  const awake = awakeClock(deps.clock);
  return async (text, mode, asked, ownEvidence = []) => {
    const { clock, implicitMx } = deps;
    const bounded = boundLookup(deps.lookup, awake);
    const world = { datasets: deps.datasets(), lookup: bounded.lookup, premium: bounded.premium };
    const question = { text, mode, asked, nowMs: clock.nowMs(), implicitMx, ownEvidence };
    try {
      const validation = await validate(question, world);
      return { ...validation, expiresAtMs: bounded.expiresAtMs() };
    } finally {
      bounded.end();
    }
  };
}
