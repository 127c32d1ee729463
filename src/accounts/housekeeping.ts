import { DAY_MS, dayOf, monthStart } from "../core/calendar.ts";
import type { Charges } from "./admission/charges.ts";
import type { UsageLedger } from "./admission/usage.ts";
import type { Tiers } from "./admission/tiers.ts";

/** How many UTC days of an account's usage are kept, today not counted. */
const USAGE_DAYS = 400;

/** How long a charge can be refunded: far longer than any job lives. */
const CHARGE_DAYS = 7;

/** Days of an address bucket kept beyond those that count, because a clock may be set back. */
const SPARE_DAYS = 1;

interface HousekeepingDeps {
  readonly usage: Pick<UsageLedger, "prune">;
  readonly charges: Pick<Charges, "prune">;
  readonly tiers: Tiers;
}

interface Pruned {
  readonly usageDays: number;
  readonly charges: number;
}

/** Deletes what is kept no longer; to be called daily. docs/operations/run.md says what that is. */
type Prune = (nowMs: number) => Promise<Pruned>;

export function createHousekeeping({ usage, charges, tiers }: HousekeepingDeps): Prune {
  return async (nowMs) => {
    const today = dayOf(nowMs);
    // Addresses are personal: their days go as soon as they can count no more.
    const firstThatCounts = tiers.anonymous.monthly === null ? today : monthStart(today);
    const accountsFrom = today - USAGE_DAYS;
    return {
      usageDays: await usage.prune({ accountsFrom, bucketsFrom: firstThatCounts - SPARE_DAYS }),
      charges: await charges.prune(nowMs - CHARGE_DAYS * DAY_MS),
    };
  };
}
