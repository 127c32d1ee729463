import type { CompiledQuery, Kysely } from "kysely";
import type { Database } from "./schema.ts";
import type { Tx } from "./transaction.ts";

/** Rows of the wide statement. */
const WIDE_ROWS = 200;

/** Inserts or updates any number of rows in their order. They are of different keys (PostgreSQL 21000). */
export type Upsert<Row> = (tx: Tx, rows: readonly Row[]) => Promise<void>;

/**
 * Two statements, one for a row and one for 200, both built once: built anew for each call, as the query builder does,
 * they cost several times what the database does with them. `build` makes the statement for some rows; `sample` is
 * one of them, whose keys are in the order of its columns.
 */
export function upsert<Row extends object>(
  db: Kysely<Database>,
  sample: Row,
  build: (db: Kysely<Database>, rows: readonly Row[]) => { compile(): CompiledQuery },
): Upsert<Row> {
  const names = Object.keys(sample) as (keyof Row)[];
  const statementFor = (length: number): CompiledQuery =>
    build(
      db,
      Array.from({ length }, () => sample),
    ).compile();
  const one = statementFor(1);
  const wide = statementFor(WIDE_ROWS);
  const run = async (tx: Tx, query: CompiledQuery, rows: readonly Row[]): Promise<void> => {
    const parameters = rows.flatMap((row) => names.map((name) => row[name]));
    await tx.sql.executeQuery({ ...query, parameters });
  };
  return async (tx, rows) => {
    let from = 0;
    for (; from + WIDE_ROWS <= rows.length; from += WIDE_ROWS) {
      await run(tx, wide, rows.slice(from, from + WIDE_ROWS));
    }
    for (const row of rows.slice(from)) await run(tx, one, [row]);
  };
}

/**
 * All of `rows` while there is room, else those that are known, and of the others the first for which there is room. What
 * is known is asked only then.
 */
export async function withinRoom<Row extends { readonly domain: string }>(
  rows: readonly Row[],
  room: number,
  known: () => Promise<ReadonlySet<string>>,
): Promise<readonly Row[]> {
  if (rows.length <= room) return rows;
  const held = await known();
  let left = room;
  return rows.filter(({ domain }) => held.has(domain) || left-- > 0);
}
