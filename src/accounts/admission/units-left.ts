import { dayOf } from "../../core/calendar.ts";
import type { Accounts } from "../accounts-store.ts";
import { ownerKey } from "../../base/owner.ts";
import type { UsageLedger } from "./usage.ts";
import type { Clock } from "../../base/clock.ts";
import type { Caller } from "./caller.ts";
import { limitsOf, type Tiers } from "./tiers.ts";

interface UnitsLeftDeps {
  readonly usage: Pick<UsageLedger, "unitsUsed">;
  readonly accounts: Pick<Accounts, "find">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly tiers: Tiers;
}

/** With its credits; Infinity where the plan has no limit. Up to 250 ms behind the counters. */
export type UnitsLeft = (caller: Caller) => Promise<number>;

export function createUnitsLeft({ usage, accounts, clock, tiers }: UnitsLeftDeps): UnitsLeft {
  return async (caller) => {
    const { owner } = caller;
    const { daily, monthly } = limitsOf(tiers, caller);
    if (daily === null && monthly === null) return Infinity;
    const { inDay, inMonth } = await usage.unitsUsed(ownerKey(owner), dayOf(clock.nowMs()));
    const ofPlan = Math.min((daily ?? Infinity) - inDay, (monthly ?? Infinity) - inMonth);
    const account = owner.kind === "account" ? await accounts.find(owner.accountId) : undefined;
    return Math.max(0, ofPlan) + (account?.creditBalance ?? 0);
  };
}
