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

/** Locks the rows that `query` finds, skipping rows that others have locked. */
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

/** Rows of one statement: milliseconds on the embedded database, far below any time limit on PostgreSQL. */
const PRUNED_AT_ONCE = 2_000;

interface Pruning {
  readonly table: keyof Database;
  /** The columns that name a row. */
  readonly key: readonly [string, ...string[]];
  /** A time or a day. */
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

/** Deletes the rows whose `column` lies before a moment; returns how many. */
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

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * Texts of a batch are many times the same words, and there may be 15 minutes of them: compressed they take
 * about a tenth (deflate, fastest level). The work is done on zlib's own threads.
 */
export const packText = (text: string | Uint8Array): Promise<Uint8Array> =>
  deflate(text, { level: constants.Z_BEST_SPEED });

export const unpackOctets = (packed: Uint8Array): Promise<Buffer> => inflate(packed);

export async function unpackText(packed: Uint8Array): Promise<string> {
  return (await unpackOctets(packed)).toString("utf8");
}

/** Lines without line breaks in them, none of them empty. */
export const packLines = (lines: readonly string[]): Promise<Uint8Array> =>
  packText(lines.join("\n"));

export async function unpackLines(packed: Uint8Array): Promise<readonly string[]> {
  const text = await unpackText(packed);
  return text === "" ? [] : text.split("\n");
}
