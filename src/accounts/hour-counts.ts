import type { Kysely } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { WriteBehind } from "../base/write-behind.ts";
import { DAY_MS } from "../core/calendar.ts";
import { DECISIONS } from "../core/policy/policy.ts";
import { pruneRows } from "../store/rows.ts";
import type { Database, HourCountRow } from "../store/schema.ts";
import { accountCounts, type CountDeps } from "./account-counts.ts";

const HOUR_MS = 3_600_000;
const HOURS = DAY_MS / HOUR_MS;
const KEY = ["account_id", "hour", "kind"] as const;

const HOUR_KINDS = ["requests", "refusals", ...DECISIONS] as const;
export type HourKind = (typeof HOUR_KINDS)[number];
export type HourCount = Readonly<Record<HourKind, number>>;

/** Counts by hour, for the charts of an account's first day. Kept two days; a kill may lose a second of them. */
export class HourCounts {
  readonly #db: Kysely<Database>;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #rows: WriteBehind<HourCountRow>;

  constructor(db: Kysely<Database>, deps: CountDeps) {
    this.#db = db;
    this.#clock = deps.clock;
    this.#rows = accountCounts(db, "hour_counts", KEY, { ...deps, event: "hours.flush_failed" });
  }

  note(accountId: string, kind: HourKind): void {
    const hour = Math.floor(this.#clock.nowMs() / HOUR_MS);
    const row = { account_id: accountId, hour, kind, count: 1 };
    this.#rows.note(`${accountId} ${String(hour)} ${kind}`, row);
  }

  flush(): Promise<void> {
    return this.#rows.flush();
  }

  async today(accountId: string): Promise<readonly HourCount[]> {
    const now = Math.floor(this.#clock.nowMs() / HOUR_MS);
    const first = now - (now % HOURS);
    const rows = await this.#db
      .selectFrom("hour_counts")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("hour", ">=", first)
      .execute();
    return Array.from({ length: now - first + 1 }, (_, at) => {
      const ofHour = rows.filter(({ hour }) => hour === first + at);
      const of = (kind: HourKind): number =>
        Number(ofHour.find((row) => row.kind === kind)?.count ?? 0);
      return Object.fromEntries(HOUR_KINDS.map((kind) => [kind, of(kind)])) as HourCount;
    });
  }
}

export const pruneHours = (db: Kysely<Database>, nowMs: number): Promise<number> =>
  pruneRows(db, {
    table: "hour_counts",
    key: KEY,
    column: "hour",
    before: Math.floor(nowMs / HOUR_MS) - 2 * HOURS,
  });
