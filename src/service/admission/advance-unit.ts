import type { Awaitable } from "../../core/mail/lookup.ts";
import type { QuotaSpent, QuotaTaken } from "../../ports/admission/quota-counter.ts";
import type { AdvanceUnit } from "./admission.ts";

/** A unit counted before its charge; `giveBack` takes it off the day it was counted on. */
export function advanceUnit(
  unit: QuotaTaken | QuotaSpent,
  giveBack: (day: number) => Awaitable<void>,
): AdvanceUnit {
  let left: QuotaTaken | QuotaSpent | undefined = unit;
  const claim = (): QuotaTaken | QuotaSpent | undefined => {
    const claimed = left;
    left = undefined;
    return claimed;
  };
  return {
    claim,
    release() {
      const unclaimed = claim();
      return unclaimed?.kind === "taken" ? giveBack(unclaimed.day) : undefined;
    },
  };
}
