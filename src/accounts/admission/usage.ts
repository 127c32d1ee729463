import { randomUUID } from "node:crypto";
import { type CompiledQuery, sql } from "kysely";
import type { OwnerKey } from "../../base/owner.ts";
import { StoreDown } from "../../base/store-down.ts";
import { monthStart, nextMonthStart } from "../../core/calendar.ts";
import { findRow, putRow } from "../../store/rows.ts";
import { lockName } from "../../store/locks.ts";
import { pruneSlices } from "../../store/prune.ts";
import { type Upsert, upsert } from "../../store/upserts.ts";
import type { Db, UsageDayRow } from "../../store/schema.ts";
import { hasRivals, inTransaction, type Tx } from "../../store/transaction.ts";

export interface QuotaLimits {
  readonly daily: number | null;
  readonly monthly: number | null;
}

/** The month when both are spent: it is the one that lasts longer. */
export interface QuotaSpent {
  readonly kind: "spent";
  readonly period: "day" | "month";
}

/** Counted on that UTC day, in days since the Unix epoch. */
export interface QuotaTaken {
  readonly kind: "taken";
  readonly day: number;
}

/** What was counted for an owner on a UTC day, to be added to what is known. Counts may be negative. */
export type UsageDelta = Pick<UsageDayRow, "owner" | "day"> & Partial<UsageDayRow>;

export type UsageDay = Readonly<Omit<UsageDayRow, "owner">>;

export interface OwnerTotal {
  readonly owner: OwnerKey;
  readonly units: number;
  readonly requests: number;
}

export interface UnitsUsed {
  readonly inDay: number;
  readonly inMonth: number;
}

export interface UnitOrder {
  readonly owner: OwnerKey;
  readonly units: number;
  readonly limits: QuotaLimits;
  readonly day: number;
}

const newestDay = (deltas: readonly UsageDelta[]): number =>
  deltas.reduce((newest, { day }) => Math.max(newest, day), 0);

const negated = ({ owner, day, ...counts }: UsageDelta): UsageDelta => ({
  owner,
  day,
  ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, -count])),
});

const COUNT_COLUMNS = ["units", "credits", "requests", "refusals"] as const;

type UsageCounts = Omit<UsageDayRow, "owner" | "day">;

const NOTHING = Object.fromEntries(COUNT_COLUMNS.map((name) => [name, 0])) as UsageCounts;

const SUMS = Object.fromEntries(
  COUNT_COLUMNS.map((name) => [name, sql.raw(`usage_days.${name} + excluded.${name}`)]),
);

const adding = (db: Db, rows: readonly UsageDayRow[]) =>
  db
    .insertInto("usage_days")
    .values(rows)
    .onConflict((conflict) => conflict.columns(["owner", "day"]).doUpdateSet(SUMS));

export const emptyDay = (owner: string, day: number): UsageDayRow => ({ owner, day, ...NOTHING });

export function addUsage(known: UsageDayRow, more: UsageDelta): UsageDayRow {
  for (const name of COUNT_COLUMNS) known[name] += more[name] ?? 0;
  return known;
}

export async function countIn(
  tx: Tx,
  at: { readonly owner: string; readonly day: number },
  counts: Partial<Pick<UsageCounts, "units" | "credits">>,
): Promise<void> {
  await adding(tx.sql, [{ ...emptyDay(at.owner, at.day), ...counts }]).execute();
}

function usageDay(found: Omit<UsageDayRow, "owner">): UsageDay {
  const { day, units, credits, requests, refusals } = found;
  return { day, units, credits, requests, refusals };
}

/**
 * One row may stand only once in a statement that updates on conflict (PostgreSQL 21000). Sorted, because
 * two processes that lock the same rows in different order would wait for each other.
 */
function merged(deltas: readonly UsageDelta[]): readonly UsageDayRow[] {
  const rows = new Map<string, UsageDayRow>();
  for (const delta of deltas) {
    const key = `${String(delta.day)} ${delta.owner}`;
    rows.set(key, addUsage(rows.get(key) ?? emptyDay(delta.owner, delta.day), delta));
  }
  const inOrder = (a: string, b: string): number => (a < b ? -1 : 1);
  return [...rows].sort(([a], [b]) => inOrder(a, b)).map(([, row]) => row);
}

/** Built once: every owner that comes for the first time is read by it. Parameters: day, owner, month's ends. */
function unitsUsedQuery(db: Db): CompiledQuery<UnitsUsed> {
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
  on: Db,
  owner: string,
  day: number,
  query = unitsUsedQuery(on),
): Promise<UnitsUsed> {
  const parameters = [day, owner, monthStart(day), nextMonthStart(day)];
  const { rows } = await on.executeQuery<UnitsUsed>({ ...query, parameters });
  const [used = { inDay: 0, inMonth: 0 }] = rows;
  return { ...used };
}

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

interface KeptDays {
  readonly accountsFrom: number;
  readonly bucketsFrom: number;
}

/**
 * What every owner used, by day: the truth of the quota, and the charts. Rules: `test/contracts/admission/usage.ts`.
 * Batches of counts are added so that each counts once although the answer to a commit may be
 * lost on its way from PostgreSQL. Every batch has a number that is written with it; a writer that added a batch
 * that was rejected adds the same counts again, so should the number show that it was written all the same,
 * it is taken off again in the transaction of the next batch.
 */
export class UsageLedger {
  readonly #db: Db;
  readonly #unitsUsed: CompiledQuery<UnitsUsed>;
  readonly #write: Upsert<UsageDayRow>;
  readonly #name = randomUUID();
  #number = 0;
  /** Batches whose write failed without a clear answer, by number: the ledger may have them. At most two. */
  #doubtful = new Map<number, readonly UsageDelta[]>();
  #last: Promise<void> = Promise.resolve();

  constructor(db: Db) {
    this.#db = db;
    this.#unitsUsed = unitsUsedQuery(db);
    this.#write = upsert(db, emptyDay("", 0), adding);
  }

  /** Adds all or nothing. A caller that is rejected adds the same again: they count once, even if only the answer was lost. */
  async add(deltas: readonly UsageDelta[]): Promise<void> {
    if (deltas.length === 0) return;
    // One batch after the other, so that the last number says what became of all before it.
    const added = this.#last.then(() => this.#add(deltas));
    this.#last = added.catch(() => undefined); // whoever added it hears of the failure
    await added;
  }

  async #add(deltas: readonly UsageDelta[]): Promise<void> {
    if (!hasRivals(this.#db)) {
      await inTransaction(this.#db, (tx) => this.#write(tx, merged(deltas)));
      return;
    }
    this.#number += 1;
    const number = this.#number;
    let isWritten = false;
    try {
      await inTransaction(this.#db, async (tx) => {
        isWritten = false; // a try that a deadlock undid
        // A commit that is still on its way has this lock: here is waited until it came or never will.
        await lockName(tx, `usage_writers ${this.#name}`);
        const surplus = await this.#surplus(tx);
        await this.#note(tx, number, newestDay(deltas));
        await this.#write(tx, merged([...deltas, ...surplus.map(negated)]));
        isWritten = true;
      });
    } catch (fault) {
      if (isWritten && fault instanceof StoreDown) this.#doubtful.set(number, deltas);
      throw fault;
    }
    this.#doubtful.clear();
  }

  /** Returns the batch that the ledger has although its write seemed to fail, and forgets those that it does not have. */
  async #surplus({ sql }: Tx): Promise<readonly UsageDelta[]> {
    if (this.#doubtful.size === 0) return [];
    const row = await findRow(sql, "usage_writers", { writer: this.#name });
    const written = row?.batch ?? 0;
    const surplus = this.#doubtful.get(written);
    this.#doubtful = new Map(surplus === undefined ? [] : [[written, surplus]]);
    return surplus ?? [];
  }

  #note({ sql }: Tx, batch: number, day: number): Promise<void> {
    return putRow(sql, "usage_writers", { writer: this.#name }, { batch, day });
  }

  /** Adds `units` when the day and its month, as they stand here, have room for all of them; one atomic step. */
  take(order: UnitOrder): Promise<QuotaTaken | QuotaSpent> {
    return inTransaction(this.#db, (tx) => takeUnitsIn(tx, order));
  }

  unitsUsed(owner: OwnerKey, day: number): Promise<UnitsUsed> {
    return readUnits(this.#db, owner, day, this.#unitsUsed);
  }

  #days(firstDay: number, lastDay: number) {
    const all = this.#db.selectFrom("usage_days").where("day", ">=", firstDay);
    return all.where("day", "<=", lastDay);
  }

  async days(owner: OwnerKey, firstDay: number, lastDay: number): Promise<readonly UsageDay[]> {
    const all = this.#days(firstDay, lastDay).selectAll().orderBy("day");
    return (await all.where("owner", "=", owner).execute()).map(usageDay);
  }

  async totals(firstDay: number, lastDay: number): Promise<readonly UsageDay[]> {
    const rows = await this.#days(firstDay, lastDay)
      .select("day")
      .select(COUNT_COLUMNS.map((name) => sql<number>`sum(${sql.ref(name)})`.as(name)))
      .groupBy("day")
      .orderBy("day")
      .execute();
    return rows.map(usageDay);
  }

  top(firstDay: number, lastDay: number, max: number): Promise<readonly OwnerTotal[]> {
    return this.#days(firstDay, lastDay)
      .select(["owner", sql<number>`sum(units + credits)`.as("units")])
      .select(sql<number>`sum(requests)`.as("requests"))
      .groupBy("owner")
      .orderBy("units", "desc")
      .orderBy("owner")
      .limit(max)
      .execute();
  }

  /** Forgets accounts' days before `accountsFrom` and address buckets' days before `bucketsFrom`; how many. */
  async prune({ accountsFrom, bucketsFrom }: KeptDays): Promise<number> {
    await this.#db.deleteFrom("usage_writers").where("day", "<", bucketsFrom).execute();
    return pruneSlices(
      this.#db,
      (rowsMax) => sql`
        delete from usage_days where (owner, day) in (
          select owner, day from usage_days
          where day < ${accountsFrom} or (day < ${bucketsFrom} and owner like 'bucket:%')
          limit ${rowsMax}
        )`,
    );
  }
}
