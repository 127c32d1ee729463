import type { CompiledQuery, Kysely } from "kysely";
import type { Database } from "./schema.ts";
import type { Tx } from "./transaction.ts";

/** Rows of one wide statement. */
export const WIDE_ROWS = 200;

/** Runs a wide statement on exactly `WIDE_ROWS` rows that are all of different keys (PostgreSQL 21000). */
export type WideInsert<Row> = (tx: Tx, rows: readonly Row[]) => Promise<void>;

/**
 * One statement for `WIDE_ROWS` rows, built once: built anew for each, as the query builder does, it costs
 * several times what the database does with it. `build` makes the statement for some rows; `sample` is one
 * of them, whose keys are in the order of its columns.
 */
export function wideInsert<Row extends object>(
  db: Kysely<Database>,
  sample: Row,
  build: (db: Kysely<Database>, rows: readonly Row[]) => { compile(): CompiledQuery },
): WideInsert<Row> {
  const rows = Array.from({ length: WIDE_ROWS }, () => sample);
  const query = build(db, rows).compile();
  const names = Object.keys(sample) as (keyof Row)[];
  return async (tx, given) => {
    if (given.length !== WIDE_ROWS) throw new Error("a wide statement takes all its rows");
    const parameters = given.flatMap((row) => names.map((name) => row[name]));
    await tx.sql.executeQuery({ ...query, parameters });
  };
}
