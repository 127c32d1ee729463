import { type Kysely, sql } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Database, TrafficTableRow } from "../store/schema.ts";
import { countRows, deleteRows, lockAccount, pruneSlices, upsert } from "../store/rows.ts";
import { inSlice, type Tx } from "../store/transaction.ts";
import { COUNTED_MS, type NewTrafficRow, type TrafficStore } from "./traffic.ts";

const ROWS_MAX = 50_000;

/** Deleted beyond what is too much, so that not every write deletes. */
const SLACK_PART = 0.01;

const ACCOUNTS_MAX = 10_000;

/** Other processes write too: their rows are counted this often. */
const COUNT_EVERY_MS = 60_000;

const SAMPLE: TrafficTableRow = {
  account_id: "",
  subject: "",
  kind: "domain",
  item: "",
  first_ms: 0,
  last_ms: 0,
};

const rowOf = (row: NewTrafficRow): TrafficTableRow => ({
  account_id: row.accountId,
  subject: row.subject,
  kind: row.kind,
  item: row.item,
  first_ms: row.firstMs,
  last_ms: row.lastMs,
});

const keyOf = ({ subject, kind, item }: TrafficTableRow): string => `${subject} ${kind} ${item}`;

/** Deletes the oldest rows of an account that has too many; how many it has then. */
async function keepWithin({ sql: db }: Tx, accountId: string, rowsMax: number): Promise<number> {
  const rows = await countRows(db.selectFrom("traffic").where("account_id", "=", accountId));
  const excess = rows - rowsMax;
  if (excess <= 0) return rows;
  const gone = excess + Math.floor(rowsMax * SLACK_PART);
  await sql`
    delete from traffic where (account_id, subject, kind, item) in (
      select account_id, subject, kind, item from traffic
      where account_id = ${accountId} order by last_ms limit ${gone}
    )`.execute(db);
  return rows - gone;
}

export interface SqlTraffic extends TrafficStore {
  forget(accountId: string): Promise<void>;
  prune(nowMs: number): Promise<void>;
}

function adder(db: Kysely<Database>, clock: Pick<Clock, "nowMs">, rowsMax: number) {
  const save = upsert(db, SAMPLE, (query, rows) =>
    query
      .insertInto("traffic")
      .values([...rows])
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "subject", "kind", "item"])
          .doUpdateSet((build) => ({ last_ms: build.ref("excluded.last_ms") }))
          .whereRef("excluded.last_ms", ">", "traffic.last_ms"),
      ),
  );
  const counted = new Map<string, { readonly rows: number; readonly atMs: number }>();
  return async (tx: Tx, accountId: string, rows: readonly NewTrafficRow[]): Promise<void> => {
    await lockAccount(tx, accountId); // switching off waits, and then deletes these rows too
    const account = await tx.sql
      .selectFrom("accounts")
      .select("traffic_since")
      .where("id", "=", accountId)
      .executeTakeFirst();
    const wanted = rows.filter(({ since }) => since === account?.traffic_since);
    await save(
      tx,
      wanted.map(rowOf).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    );
    const nowMs = clock.nowMs();
    const { rows: before, atMs } = counted.get(accountId) ?? { rows: rowsMax, atMs: -Infinity };
    const most = before + wanted.length;
    const isFine = most <= rowsMax && nowMs - atMs < COUNT_EVERY_MS;
    if (counted.size >= ACCOUNTS_MAX) counted.clear();
    const now = isFine
      ? { rows: most, atMs }
      : { rows: await keepWithin(tx, accountId, rowsMax), atMs: nowMs };
    counted.set(accountId, now);
  };
}

/** `rowsMax`: for tests. */
export function sqlTraffic(
  db: Kysely<Database>,
  clock: Pick<Clock, "nowMs">,
  rowsMax = ROWS_MAX,
): SqlTraffic {
  const add = adder(db, clock, rowsMax);
  return {
    async ofSubjects(accountId, subjects) {
      // Always three, because the database keeps a statement for each text.
      const [first = ""] = subjects;
      const rows = await db
        .selectFrom("traffic")
        .select(["subject", "kind", "item", "first_ms", "last_ms"])
        .where("account_id", "=", accountId)
        .where("subject", "in", [...subjects, first, first].slice(0, 3))
        .execute();
      return rows.map(({ first_ms: firstMs, last_ms: lastMs, ...row }) => ({
        ...row,
        firstMs,
        lastMs,
      }));
    },
    async add(rows) {
      // In order, so that no two processes wait for each other's rows.
      const ids = [...new Set(rows.map(({ accountId }) => accountId))].toSorted();
      await inSlice(db, async (tx) => {
        for (const id of ids) {
          const own = rows.filter(({ accountId }) => accountId === id);
          await add(tx, id, own);
        }
      });
    },
    async forget(accountId) {
      await deleteRows(db, "traffic", { account_id: accountId });
    },
    async prune(nowMs) {
      for (const [kind, countedMs] of Object.entries(COUNTED_MS)) {
        const slice = (limit: number) => sql`
          delete from traffic where (account_id, subject, kind, item) in (
            select account_id, subject, kind, item from traffic
            where kind = ${kind} and last_ms <= ${nowMs - countedMs} limit ${limit}
          )`;
        await pruneSlices(db, slice);
      }
    },
  };
}
