import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Database, Db } from "./schema.ts";
import type { Tx } from "./transaction.ts";

/** Rows of one statement: milliseconds on the embedded database, far below any time limit on PostgreSQL. */
const PRUNED_AT_ONCE = 2_000;

interface Pruning {
  readonly table: keyof Database;
  readonly key: readonly [string, ...string[]];
  readonly column: string;
  readonly before: number;
}

export async function pruneSlices(
  db: Db,
  slice: (rowsMax: number) => RawBuilder<unknown>,
): Promise<number> {
  const statement = slice(PRUNED_AT_ONCE);
  let pruned = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await statement.execute(db);
    pruned += Number(numAffectedRows);
    if (numAffectedRows < PRUNED_AT_ONCE) return pruned;
    await setImmediate(); // requests go on in between: the embedded database works on this thread
  }
}

export function pruneRows(db: Db, pruning: Pruning): Promise<number> {
  const table = sql.table(pruning.table);
  const key = sql.join(pruning.key.map((name) => sql.ref(name)));
  return pruneSlices(
    db,
    (rowsMax) => sql`
      delete from ${table} where (${key}) in (
        select ${key} from ${table}
        where ${sql.ref(pruning.column)} < ${pruning.before} limit ${rowsMax}
      )`,
  );
}

/** Deletes an account's rows but the newest `rowsMax` by `column`, whose values grow. */
export async function keepNewest(
  { sql: db }: Tx,
  table: "api_keys" | "decisions" | "feedback" | "login_sessions",
  accountId: string,
  rowsMax: number,
  { column = "id", only = sql`true` }: { column?: string; only?: RawBuilder<unknown> } = {},
): Promise<void> {
  const rows = sql`${sql.table(table)} where account_id = ${accountId} and ${only}`;
  const by = sql.ref(column);
  await sql`
    delete from ${rows} and ${by} <
      (select ${by} from ${rows} order by ${by} desc limit 1 offset ${rowsMax - 1})`.execute(db);
}
