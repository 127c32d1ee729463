import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { constants, deflateRaw, inflateRaw } from "node:zlib";
import {
  type CompiledQuery,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
} from "kysely";
import type { Database } from "./schema.ts";
import { hasRivals, type Tx } from "./transaction.ts";

/** `text` inside a LIKE pattern that says `escape '\\'`, standing for itself. */
export const literally = (text: string): string =>
  text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);

/** Makes everybody who locks the same name wait until this transaction ends. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  if (!hasRivals(tx.sql)) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.sql);
}

export function freeRows<T extends keyof Database, O>(
  db: Kysely<Database>,
  query: SelectQueryBuilder<Database, T, O>,
): SelectQueryBuilder<Database, T, O> {
  return hasRivals(db) ? query.forUpdate().skipLocked() : query;
}

/** Locks the account's row against every change, and against rows that are to refer to it. */
export async function lockAccount({ sql: db }: Tx, accountId: string): Promise<void> {
  if (!hasRivals(db)) return;
  await db.selectFrom("accounts").select("id").where("id", "=", accountId).forUpdate().execute();
}

export async function countRows<T extends keyof Database>(
  query: SelectQueryBuilder<Database, T, object>,
): Promise<number> {
  const counted = query.select(({ fn }) => fn.countAll().as("rows"));
  return Number((await counted.executeTakeFirstOrThrow()).rows);
}

/** Few sizes, as the database keeps each prepared; PostgreSQL takes 65,535 values, SQLite 32,766. */
const BATCH_ROWS = [200, 20, 1] as const;

/** Inserts or updates any number of rows in their order. They are of different keys (PostgreSQL 21000). */
export type Upsert<Row> = (tx: Tx, rows: readonly Row[]) => Promise<void>;

/** Statements built once: the query builder costs several times what the database does. */
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

/** Rows of one statement: milliseconds on the embedded database, far below any time limit on PostgreSQL. */
const PRUNED_AT_ONCE = 2_000;

interface Pruning {
  readonly table: keyof Database;
  readonly key: readonly [string, ...string[]];
  readonly column: string;
  readonly before: number;
}

/** Repeats a `delete` of limited size until no row is left; returns the number of deleted rows. */
export async function pruneSlices(
  db: Kysely<Database>,
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

export function pruneRows(db: Kysely<Database>, pruning: Pruning): Promise<number> {
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

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Deflate at its fastest level makes a tenth of a batch, on zlib's own threads. */
export const packText = (text: string | Uint8Array): Promise<Uint8Array> =>
  deflate(text, { level: constants.Z_BEST_SPEED });

export const unpackOctets = (packed: Uint8Array): Promise<Buffer> => inflate(packed);

export async function unpackText(packed: Uint8Array): Promise<string> {
  return (await unpackOctets(packed)).toString("utf8");
}

export const packLines = (lines: readonly string[]): Promise<Uint8Array> =>
  packText(lines.join("\n"));

export async function unpackLines(packed: Uint8Array): Promise<readonly string[]> {
  const text = await unpackText(packed);
  return text === "" ? [] : text.split("\n");
}

/** Rows whose columns have these values; null stands for itself. */
type Match<Table extends keyof Database> = Readonly<Partial<Database[Table]>>;

/** The builder knows a query by the name of its table; here all tables are alike. */
const ANY = "accounts";

export async function findRow<Table extends keyof Database>(
  db: Kysely<Database>,
  table: Table,
  is: Match<Table>,
): Promise<Database[Table] | undefined> {
  const rows = db.selectFrom(table as typeof ANY).selectAll();
  const row = await rows.where((eb) => eb.and(is as object)).executeTakeFirst();
  return row as Database[Table] | undefined;
}

export async function insertRow<Table extends keyof Database>(
  db: Kysely<Database>,
  table: Table,
  row: Database[Table],
): Promise<void> {
  await db
    .insertInto(table as typeof ANY)
    .values(row as Database[typeof ANY])
    .execute();
}

/** New values, or SQL that makes them of the old ones. */
type Columns<Table extends keyof Database> = {
  readonly [Name in keyof Database[Table]]?: Database[Table][Name] | RawBuilder<unknown>;
};

export async function changeRows<Table extends keyof Database>(
  db: Kysely<Database>,
  table: Table,
  is: Match<Table>,
  columns: Columns<Table>,
): Promise<number> {
  const changing = db.updateTable(table as typeof ANY).set(columns as object);
  const changed = await changing.where((eb) => eb.and(is as object)).executeTakeFirstOrThrow();
  return Number(changed.numUpdatedRows);
}

/** Returns the row as it is now; undefined: there is none. */
export async function changeRow<Table extends keyof Database>(
  db: Kysely<Database>,
  table: Table,
  is: Match<Table>,
  columns: Columns<Table>,
): Promise<Database[Table] | undefined> {
  const changing = db.updateTable(table as typeof ANY).set(columns as object);
  const matching = changing.where((eb) => eb.and(is as object));
  const row = await matching.returningAll().executeTakeFirst();
  return row as Database[Table] | undefined;
}

type CountTable = {
  readonly [Table in keyof Database]: Database[Table] extends { count: number } ? Table : never;
}[keyof Database];

/** Inserts counts, or adds them to those of the same key: all columns but `count`. The rows are of different keys. */
export async function addCounts<Table extends CountTable>(
  db: Kysely<Database>,
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

export async function deleteRows<Table extends keyof Database>(
  db: Kysely<Database>,
  table: Table,
  is: Match<Table>,
): Promise<number> {
  const deleting = db.deleteFrom(table as typeof ANY);
  const deleted = await deleting.where((eb) => eb.and(is as object)).executeTakeFirstOrThrow();
  return Number(deleted.numDeletedRows);
}
