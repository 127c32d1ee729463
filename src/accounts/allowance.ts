import { DAY_MS, dayOf, isoDate, isoTime, nextMonthStart } from "../core/calendar.ts";
import type { Account, Accounts } from "./accounts-store.ts";
import type { Clock } from "../base/clock.ts";
import { accountKey, ownerKey } from "../base/owner.ts";
import type { Caller } from "./admission/caller.ts";
import { type UsageDay, type UsageLedger } from "./admission/usage.ts";
import { limitsOf, tierOf, type Tiers } from "./admission/tiers.ts";

interface AllowanceDeps {
  readonly usage: Pick<UsageLedger, "unitsUsed" | "days" | "totals" | "top">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly tiers: Tiers;
}

export class UsageReader {
  readonly #deps: AllowanceDeps;

  constructor(deps: AllowanceDeps) {
    this.#deps = deps;
  }

  /** Up to a quarter of a second behind the counters. Null in place of a limit: there is none. */
  async allowance(account: Account) {
    const { usage, clock, tiers } = this.#deps;
    const nowMs = clock.nowMs();
    const today = dayOf(nowMs);
    const { inDay, inMonth } = await usage.unitsUsed(accountKey(account.id), today);
    const name = tierOf(account, nowMs);
    const tier = limitsOf(tiers, { ...account, tier: name });
    const resetsAt = (day: number): string => isoTime(day * DAY_MS);
    return {
      tier: name,
      day: { used: inDay, limit: tier.daily, resets_at: resetsAt(today + 1) },
      month: { used: inMonth, limit: tier.monthly, resets_at: resetsAt(nextMonthStart(today)) },
      credits: account.creditBalance,
      rate_per_minute: tier.ratePerMinute,
      bulk_limit: tier.bulkLimit,
      premium: tier.premium,
      /** Limits that are the account's own in place of the plan's, by the names of a plan. */
      own_limits: Object.keys(account.limits ?? {}),
    };
  }

  async days(account: Account, count: number) {
    const today = dayOf(this.#deps.clock.nowMs());
    const days = this.#deps.usage.days(accountKey(account.id), today - count + 1, today);
    return filled(await days, count, today);
  }

  async everyone(count: number) {
    const { usage, clock } = this.#deps;
    const today = dayOf(clock.nowMs());
    const first = today - count + 1;
    const days = filled(await usage.totals(first, today), count, today);
    return { days, top: await usage.top(first, today, 8) };
  }
}

function filled(known: readonly UsageDay[], count: number, today: number) {
  const byDay = new Map(known.map((row) => [row.day, row]));
  return Array.from({ length: count }, (_, at) => {
    const day = today - count + 1 + at;
    const { day: _day, ...counts } = byDay.get(day) ?? { day, ...NOTHING };
    return { date: isoDate(day), ...counts };
  });
}

const NOTHING: Omit<UsageDay, "day"> = { units: 0, credits: 0, requests: 0, refusals: 0 };

export type AllowanceJson = Awaited<ReturnType<UsageReader["allowance"]>>;
export type PurseJson = AllowanceJson["day"];
export type UsageDayJson = ReturnType<typeof filled>[number];

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
