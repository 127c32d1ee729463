import { type Kysely, sql } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { addCount, WriteBehind } from "../base/write-behind.ts";
import { DAY_MS } from "../core/calendar.ts";
import { DECISIONS } from "../core/policy/policy.ts";
import { pruneRows } from "../store/rows.ts";
import type { Database, HourCountRow } from "../store/schema.ts";

const HOUR_MS = 3_600_000;
const HOURS = DAY_MS / HOUR_MS;
const FLUSH_AFTER_MS = 1_000;
const BATCH = 500;
const WAITING_MAX = 20_000;
const KEY = ["account_id", "hour", "kind"] as const;

const HOUR_KINDS = ["requests", "refusals", ...DECISIONS] as const;
export type HourKind = (typeof HOUR_KINDS)[number];
export type HourCount = Readonly<Record<HourKind, number>>;

/** Counts by hour, for the charts of an account's first day. Kept two days; a kill may lose a second of them. */
export class HourCounts {
  readonly #db: Kysely<Database>;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #rows: WriteBehind<HourCountRow>;

  constructor(
    db: Kysely<Database>,
    { clock, log }: { readonly clock: Clock; readonly log: Pick<Log, "error"> },
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#rows = new WriteBehind({
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: WAITING_MAX,
      merge: addCount,
      clock,
      save: (rows) => saveAccountCounts(db, "hour_counts", KEY, rows),
      failed: (fault, lost) => log.error("hours.flush_failed", fault, { lost }),
    });
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

/** Adds counts to a table. Accounts that were deleted meanwhile are left out; rows go in one order, so that no two writers wait for each other. */
export async function saveAccountCounts<Table extends "hour_counts" | "refusal_counts">(
  db: Kysely<Database>,
  table: Table,
  key: readonly (keyof Database[Table] & string)[],
  rows: readonly (Database[Table] & { account_id: string; count: number })[],
): Promise<void> {
  const known = await db
    .selectFrom("accounts")
    .select("id")
    .where("id", "in", [...new Set(rows.map((row) => row.account_id))])
    .execute();
  const ids = new Set(known.map(({ id }) => id));
  const orderOf = (row: Database[Table]): string => key.map((name) => String(row[name])).join(" ");
  const kept = rows
    .filter((row) => ids.has(row.account_id))
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  if (kept.length === 0) return;
  const columns = key.map((name) => sql.ref(name));
  const names = [...key, "count"].map((name) => sql.ref(name));
  const values = kept.map((row) => {
    const cells = [...key.map((name) => row[name]), row.count];
    return sql`(${sql.join(cells)})`;
  });
  await sql`
    insert into ${sql.table(table)} (${sql.join(names)}) values ${sql.join(values)}
    on conflict (${sql.join(columns)}) do update set count = ${sql.ref(`${table}.count`)} + excluded.count
  `.execute(db);
}

export const pruneHours = (db: Kysely<Database>, nowMs: number): Promise<number> =>
  pruneRows(db, {
    table: "hour_counts",
    key: KEY,
    column: "hour",
    before: Math.floor(nowMs / HOUR_MS) - 2 * HOURS,
  });
