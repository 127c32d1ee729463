import { DAY_MS, dayOf, isoDate, isoTime, nextMonthStart } from "../core/calendar.ts";
import type { Account } from "./accounts-store.ts";
import type { Clock } from "../base/clock.ts";
import { accountKey } from "../base/owner.ts";
import {
  LATENCY_EDGES_MS,
  type OwnerTotal,
  type UsageDay,
  type UsageLedger,
} from "./admission/usage.ts";
import { type TierName, tierOf, type Tiers } from "./admission/tiers.ts";

interface Purse {
  readonly used: number;
  readonly limit: number | null;
  readonly resets_at: string;
}

interface Allowance {
  readonly tier: TierName;
  readonly day: Purse;
  readonly month: Purse;
  readonly credits: number;
  readonly rate_per_minute: number | null;
  readonly bulk_limit: number | null;
  readonly premium: boolean;
}

interface ShownUsageDay extends Omit<UsageDay, "day"> {
  readonly date: string;
}

interface AllowanceDeps {
  readonly usage: Pick<UsageLedger, "unitsUsed" | "days" | "totals" | "top">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly tiers: Tiers;
}

interface EveryonesUsage {
  readonly days: readonly ShownUsageDay[];
  readonly top: readonly OwnerTotal[];
}

const TOP_OWNERS = 8;

export interface UsageReader {
  /** The last `count` days up to today of all owners, oldest first. */
  everyone(count: number): Promise<EveryonesUsage>;
  /** Up to a quarter of a second behind the counters. */
  allowance(account: Account): Promise<Allowance>;
  /** The last `count` days up to today, oldest first, empty ones included. */
  days(account: Account, count: number): Promise<readonly ShownUsageDay[]>;
}

export function createUsageReader({ usage, clock, tiers }: AllowanceDeps): UsageReader {
  return {
    async allowance(account) {
      const nowMs = clock.nowMs();
      const today = dayOf(nowMs);
      const { inDay, inMonth } = await usage.unitsUsed(accountKey(account.id), today);
      const name = tierOf(account, nowMs);
      const tier = tiers[name];
      const resetsAt = (day: number): string => isoTime(day * DAY_MS);
      return {
        tier: name,
        day: { used: inDay, limit: tier.daily, resets_at: resetsAt(today + 1) },
        month: { used: inMonth, limit: tier.monthly, resets_at: resetsAt(nextMonthStart(today)) },
        credits: account.creditBalance,
        rate_per_minute: tier.ratePerMinute,
        bulk_limit: tier.bulkLimit,
        premium: tier.premium,
      };
    },
    async days(account, count) {
      const today = dayOf(clock.nowMs());
      return filled(
        await usage.days(accountKey(account.id), today - count + 1, today),
        count,
        today,
      );
    },
    async everyone(count) {
      const today = dayOf(clock.nowMs());
      const first = today - count + 1;
      const [days, top] = await Promise.all([
        usage.totals(first, today),
        usage.top(first, today, TOP_OWNERS),
      ]);
      return { days: filled(days, count, today), top };
    },
  };
}

function filled(
  known: readonly UsageDay[],
  count: number,
  today: number,
): readonly ShownUsageDay[] {
  const byDay = new Map(known.map((row) => [row.day, row]));
  return Array.from({ length: count }, (_, at) => {
    const day = today - count + 1 + at;
    const { day: _day, ...counts } = byDay.get(day) ?? { day, ...NOTHING };
    return { date: isoDate(day), ...counts };
  });
}

const NOTHING: Omit<UsageDay, "day"> = {
  units: 0,
  credits: 0,
  requests: 0,
  refusals: 0,
  latency: [...LATENCY_EDGES_MS, Infinity].map(() => 0),
};
