import { type CompiledQuery, type Kysely, sql } from "kysely";
import { monthStart, nextMonthStart } from "../../core/calendar.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { QuotaSpent, QuotaTaken } from "./quota-counter.ts";
import type {
  OwnerTotal,
  UnitOrder,
  UnitsUsed,
  UsageDay,
  UsageDelta,
  UsageLedger,
} from "./usage.ts";
import { pruneSlices } from "../../store/prune-rows.ts";
import type { Database } from "../../store/schema.ts";
import type { UsageDayRow } from "../../store/tables/usage.ts";
import { inTransaction, type Tx } from "../../store/transaction.ts";
import { UsageWriter } from "./usage-writer.ts";

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

/**
 * Rows of a statement, largest first. Few sizes, because each is a statement of its own that the database
 * keeps prepared; 13 values a row, of which SQLite takes 32,766.
 */
const BATCH_SIZES = [200, 20, 1] as const;

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
  const row = { ...emptyRow(owner, day), units, requests, refusals };
  for (const [index, name] of LATENCY_COLUMNS.entries()) row[name] = latency[index] ?? 0;
  return row;
}

/** One statement that adds `rows` to what is there. Each owner's day may stand in it only once. */
function upsert(db: Kysely<Database>, rows: readonly UsageDayRow[]): CompiledQuery<unknown> {
  return db
    .insertInto("usage_days")
    .values(rows)
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
    .compile();
}

const emptyRow = (owner: string, day: number): UsageDayRow => ({ owner, day, ...NOTHING });

/** In the order of the keys of `emptyRow`, which is the order of the statement's columns. */
const valuesOf = (row: UsageDayRow): readonly unknown[] => [
  row.owner,
  row.day,
  ...COUNT_COLUMNS.map((name) => row[name]),
];

/** Moves one owner's day inside the transaction of what is counted. */
export async function countIn(
  tx: Tx,
  at: { readonly owner: string; readonly day: number },
  counts: Partial<Pick<Counts, "units" | "credits">>,
): Promise<void> {
  await tx.sql.executeQuery(upsert(tx.sql, [{ ...emptyRow(at.owner, at.day), ...counts }]));
}

function usageDay(found: UsageDayRow): UsageDay {
  const { day, units, credits, requests, refusals } = found;
  const latency = LATENCY_COLUMNS.map((name) => found[name]);
  return { day, units, credits, requests, refusals, latency };
}

/**
 * One row may stand only once in a statement that updates on conflict (PostgreSQL 21000). Sorted, because
 * two processes that lock the same rows in different order would wait for each other.
 */
function merged(deltas: readonly UsageDelta[]): readonly UsageDayRow[] {
  const rows = new Map<string, UsageDayRow>();
  for (const delta of deltas) {
    const added = deltaRow(delta);
    const key = `${String(delta.day)} ${delta.owner}`;
    const known = rows.get(key);
    if (known === undefined) rows.set(key, added);
    else for (const name of COUNT_COLUMNS) known[name] += added[name];
  }
  const inOrder = (a: string, b: string): number => (a < b ? -1 : 1);
  return [...rows].sort(([a], [b]) => inOrder(a, b)).map(([, row]) => row);
}

/** Built once: every owner that comes for the first time is read by it. Parameters: day, owner, month's ends. */
function unitsUsedQuery(db: Kysely<Database>): CompiledQuery<UnitsUsed> {
  return db
    .selectFrom("usage_days")
    .select([
      sql<number>`coalesce(sum(case when day = ${0} then units else 0 end), 0)`.as("inDay"),
      sql<number>`coalesce(sum(units), 0)`.as("inMonth"),
    ])
    .where("owner", "=", "")
    .where("day", ">=", 0)
    .where("day", "<", 0)
    .compile();
}

async function readUnits(
  on: Kysely<Database>,
  owner: string,
  day: number,
  query = unitsUsedQuery(on),
): Promise<UnitsUsed> {
  const parameters = [day, owner, monthStart(day), nextMonthStart(day)];
  const { rows } = await on.executeQuery<UnitsUsed>({ ...query, parameters });
  // PostgreSQL sums bigint to numeric, which its driver hands over as text.
  return { inDay: Number(rows[0]?.inDay), inMonth: Number(rows[0]?.inMonth) };
}

/** Adds the units to their day when it and its month have room for all of them. */
export async function takeUnitsIn(
  tx: Tx,
  { owner, units, day, limits }: UnitOrder,
): Promise<QuotaTaken | QuotaSpent> {
  // Locks the day: others who want of it wait, and then see what is taken here (PostgreSQL).
  await countIn(tx, { owner, day }, {});
  const { inDay, inMonth } = await readUnits(tx.sql, owner, day);
  const { daily, monthly } = limits;
  if (monthly !== null && inMonth + units > monthly) return { kind: "spent", period: "month" };
  if (daily !== null && inDay + units > daily) return { kind: "spent", period: "day" };
  await countIn(tx, { owner, day }, { units });
  return { kind: "taken", day };
}

export function sqlUsageLedger(db: Kysely<Database>): UsageLedger {
  const unitsUsed = unitsUsedQuery(db);
  // Built once, as the flush runs four times a second: the builder makes an object of every value.
  const batches = BATCH_SIZES.map((size) => {
    const rows = Array.from({ length: size }, () => emptyRow("", 0));
    return { size, query: upsert(db, rows) };
  });
  const addRows = async (tx: Tx, deltas: readonly UsageDelta[]): Promise<void> => {
    const rows = merged(deltas);
    let start = 0;
    for (const { size, query } of batches) {
      for (; rows.length - start >= size; start += size) {
        const parameters = rows.slice(start, start + size).flatMap(valuesOf);
        await tx.sql.executeQuery({ ...query, parameters });
      }
    }
  };
  const writer = new UsageWriter(db, addRows);
  return {
    async add(deltas) {
      if (deltas.length > 0) await writer.add(deltas);
    },
    take: (order) => inTransaction(db, (tx) => takeUnitsIn(tx, order)),
    unitsUsed: (owner, day) => readUnits(db, owner, day, unitsUsed),
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
    totals: (firstDay, lastDay) => totals(db, firstDay, lastDay),
    top: (firstDay, lastDay, max) => top(db, { firstDay, lastDay, max }),
    async prune(days) {
      await db.deleteFrom("usage_writers").where("day", "<", days.bucketsFrom).execute();
      return pruneSlices(db, (rowsMax) => pruneSlice(days, rowsMax));
    },
  };
}

const pruneSlice = (
  { accountsFrom, bucketsFrom }: Parameters<UsageLedger["prune"]>[0],
  rowsMax: number,
) => sql`
  delete from usage_days where (owner, day) in (
    select owner, day from usage_days
    where day < ${accountsFrom} or (day < ${bucketsFrom} and owner like 'bucket:%')
    limit ${rowsMax}
  )`;

/** The days of all owners together. */
async function totals(
  db: Kysely<Database>,
  firstDay: number,
  lastDay: number,
): Promise<readonly UsageDay[]> {
  const rows = await db
    .selectFrom("usage_days")
    .select("day")
    .select(COUNT_COLUMNS.map((name) => sql<number>`sum(${sql.ref(name)})`.as(name)))
    .where("day", ">=", firstDay)
    .where("day", "<=", lastDay)
    .groupBy("day")
    .orderBy("day")
    .execute();
  // PostgreSQL sums bigint to numeric, which its driver hands over as text.
  const counts = (row: (typeof rows)[number]): Counts => {
    const sums = COUNT_COLUMNS.map((name) => [name, Number(row[name])] as const);
    return { ...NOTHING, ...Object.fromEntries(sums) };
  };
  return rows.map((row) => usageDay({ owner: "", day: row.day, ...counts(row) }));
}

/** Those who used most. */
async function top(
  db: Kysely<Database>,
  { firstDay, lastDay, max }: { firstDay: number; lastDay: number; max: number },
): Promise<readonly OwnerTotal[]> {
  const rows = await db
    .selectFrom("usage_days")
    .select(["owner", sql<number>`sum(units + credits)`.as("units")])
    .select(sql<number>`sum(requests)`.as("requests"))
    .where("day", ">=", firstDay)
    .where("day", "<=", lastDay)
    .groupBy("owner")
    .orderBy("units", "desc")
    .orderBy("owner")
    .limit(max)
    .execute();
  return rows.map(({ owner, units, requests }) => ({
    owner: owner as OwnerKey, // the column's only writer takes owner keys
    units: Number(units),
    requests: Number(requests),
  }));
}
