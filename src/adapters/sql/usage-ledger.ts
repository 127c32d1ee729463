import { type Kysely, sql } from "kysely";
import { monthStart, nextMonthStart } from "../../core/calendar.ts";
import type { UsageDay, UsageDelta, UsageLedger } from "../../ports/usage.ts";
import type { Database } from "./schema.ts";
import type { UsageDayRow } from "./tables/usage.ts";
import { inTransaction, type Tx } from "./transaction.ts";

/** In the order of `LATENCY_EDGES_MS`, and one for what is above. */
const LATENCY_COLUMNS = [
  "latency_le_10",
  "latency_le_50",
  "latency_le_100",
  "latency_le_500",
  "latency_le_1000",
  "latency_le_5000",
  "latency_more",
] as const;

const COUNT_COLUMNS = ["units", "credits", "requests", "refusals", ...LATENCY_COLUMNS] as const;

/** 13 values a row: PostgreSQL takes 65,535 in a statement, SQLite 32,766. */
const ROWS_MAX = 500;

type Counts = Omit<UsageDayRow, "owner" | "day">;

const NOTHING: Readonly<Counts> = {
  units: 0,
  credits: 0,
  requests: 0,
  refusals: 0,
  latency_le_10: 0,
  latency_le_50: 0,
  latency_le_100: 0,
  latency_le_500: 0,
  latency_le_1000: 0,
  latency_le_5000: 0,
  latency_more: 0,
};

function deltaRow(delta: UsageDelta): UsageDayRow {
  const { owner, day, units = 0, requests = 0, refusals = 0, latency = [] } = delta;
  const row = { ...NOTHING, owner, day, units, requests, refusals };
  for (const [index, name] of LATENCY_COLUMNS.entries()) row[name] = latency[index] ?? 0;
  return row;
}

async function addRows({ sql: trx }: Tx, rows: readonly UsageDayRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_MAX) {
    await trx
      .insertInto("usage_days")
      .values(rows.slice(start, start + ROWS_MAX))
      .onConflict((conflict) =>
        conflict
          .columns(["owner", "day"])
          .doUpdateSet((build) =>
            Object.fromEntries(
              COUNT_COLUMNS.map((name) => [
                name,
                build(`usage_days.${name}`, "+", build.ref(`excluded.${name}`)),
              ]),
            ),
          ),
      )
      .execute();
  }
}

/** Moves one owner's day inside the transaction of what is counted. */
export async function countIn(
  tx: Tx,
  at: { readonly owner: string; readonly day: number },
  counts: Partial<Pick<Counts, "units" | "credits">>,
): Promise<void> {
  await addRows(tx, [{ ...NOTHING, ...counts, owner: at.owner, day: at.day }]);
}

function usageDay(found: UsageDayRow): UsageDay {
  const { day, units, credits, requests, refusals } = found;
  const latency = LATENCY_COLUMNS.map((name) => found[name]);
  return { day, units, credits, requests, refusals, latency };
}

/** One row may stand only once in a statement that updates on conflict (PostgreSQL 21000). */
function merged(deltas: readonly UsageDelta[]): readonly UsageDayRow[] {
  const rows = new Map<string, UsageDayRow>();
  for (const delta of deltas) {
    const added = deltaRow(delta);
    const key = `${String(delta.day)} ${delta.owner}`;
    const known = rows.get(key);
    if (known === undefined) rows.set(key, added);
    else for (const name of COUNT_COLUMNS) known[name] += added[name];
  }
  return [...rows.values()];
}

export function sqlUsageLedger(db: Kysely<Database>): UsageLedger {
  return {
    async add(deltas) {
      if (deltas.length > 0) await inTransaction(db, (tx) => addRows(tx, merged(deltas)));
    },
    async unitsUsed(owner, day) {
      const used = await db
        .selectFrom("usage_days")
        .select([
          sql<number>`coalesce(sum(case when day = ${day} then units else 0 end), 0)`.as("inDay"),
          sql<number>`coalesce(sum(units), 0)`.as("inMonth"),
        ])
        .where("owner", "=", owner)
        .where("day", ">=", monthStart(day))
        .where("day", "<", nextMonthStart(day))
        .executeTakeFirstOrThrow();
      // PostgreSQL sums bigint to numeric, which its driver hands over as text.
      return { inDay: Number(used.inDay), inMonth: Number(used.inMonth) };
    },
    async days(owner, firstDay, lastDay) {
      const rows = await db
        .selectFrom("usage_days")
        .selectAll()
        .where("owner", "=", owner)
        .where("day", ">=", firstDay)
        .where("day", "<=", lastDay)
        .orderBy("day")
        .execute();
      return rows.map(usageDay);
    },
    async prune({ accountsFrom, bucketsFrom }) {
      const gone = await db
        .deleteFrom("usage_days")
        .where((build) =>
          build.or([
            build("day", "<", accountsFrom),
            build.and([build("day", "<", bucketsFrom), build("owner", "like", "bucket:%")]),
          ]),
        )
        .executeTakeFirst();
      return Number(gone.numDeletedRows);
    },
  };
}
