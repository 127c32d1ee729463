import { type CompiledQuery, type SelectQueryBuilder, sql } from "kysely";
import type { Database, Db } from "./schema.ts";
import type { Tx } from "./transaction.ts";

/** Few sizes, as the database keeps each prepared; PostgreSQL takes 65,535 values, SQLite 32,766. */
const BATCH_ROWS = [200, 20, 1] as const;

/** Inserts or updates any number of rows in their order. They are of different keys (PostgreSQL 21000). */
export type Upsert<Row> = (tx: Tx, rows: readonly Row[]) => Promise<void>;

/** Statements built once: the query builder costs several times what the database does. */
export function upsert<Row extends object>(
  db: Db,
  sample: Row,
  build: (db: Db, rows: readonly Row[]) => { compile(): CompiledQuery },
): Upsert<Row> {
  const names = Object.keys(sample) as (keyof Row)[];
  const statementFor = (length: number): CompiledQuery =>
    build(
      db,
      Array.from({ length }, () => sample),
    ).compile();
  const statements = BATCH_ROWS.map((size) => ({ size, query: statementFor(size) }));
  return async (tx, rows) => {
    let from = 0;
    for (const { size, query } of statements) {
      for (; from + size <= rows.length; from += size) {
        const some = rows.slice(from, from + size);
        const parameters = some.flatMap((row) => names.map((name) => row[name]));
        await tx.sql.executeQuery({ ...query, parameters });
      }
    }
  };
}

/** All of `rows` while there is room, else those that `known` finds and the first of the others. */
export async function withinRoom<Row extends { readonly domain: string }>(
  rows: readonly Row[],
  room: number,
  known: SelectQueryBuilder<Database, "domain_mail", { domain: string }>,
): Promise<readonly Row[]> {
  if (rows.length <= room) return rows;
  const names = rows.map(({ domain }) => domain);
  const held = new Set((await known.where("domain", "in", names).execute()).map((r) => r.domain));
  let left = room;
  return rows.filter(({ domain }) => held.has(domain) || left-- > 0);
}

type CountTable = {
  readonly [Table in keyof Database]: Database[Table] extends { count: number } ? Table : never;
}[keyof Database];

export async function addCounts<Table extends CountTable>(
  db: Db,
  table: Table,
  rows: readonly Database[Table][],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first) as (keyof Database[Table] & string)[];
  const key = names.filter((name) => name !== "count").map((name) => sql.ref(name));
  const values = rows.map((row) => sql`(${sql.join(names.map((name) => row[name]))})`);
  await sql`
    insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
    values ${sql.join(values)} on conflict (${sql.join(key)})
    do update set count = ${sql.ref(`${table}.count`)} + excluded.count`.execute(db);
}
