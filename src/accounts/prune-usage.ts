import { DAY_MS, dayOf, monthStart } from "../core/calendar.ts";
import type { Charges } from "./admission/charges.ts";
import type { Tiers } from "./admission/tiers.ts";
import type { UsageLedger } from "./admission/usage.ts";

/** How long a charge can be refunded: far longer than any job lives. */
const CHARGE_DAYS = 7;

/** Days of an address bucket kept beyond those that count, because a clock may be set back. */
const SPARE_DAYS = 1;

interface PrunedStores {
  readonly usage: Pick<UsageLedger, "prune">;
  readonly charges: Pick<Charges, "prune">;
  readonly tiers: Tiers;
}

/** Deletes counts that are kept no longer; to be called daily. Addresses are personal: their days go once they count no more. */
export async function pruneUsage(
  { usage, charges, tiers }: PrunedStores,
  nowMs: number,
): Promise<{ readonly usageDays: number; readonly charges: number }> {
  const today = dayOf(nowMs);
  const firstThatCounts = tiers.anonymous.monthly === null ? today : monthStart(today);
  const bucketsFrom = firstThatCounts - SPARE_DAYS;
  return {
    usageDays: await usage.prune({ accountsFrom: today - 400, bucketsFrom }),
    charges: await charges.prune(nowMs - CHARGE_DAYS * DAY_MS),
  };
}
