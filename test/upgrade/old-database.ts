import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import pg from "pg";
import { openSqlite } from "../../src/store/embedded/sqlite.ts";

/** What each version itself stored while it was used by commands, HTTP and hooks, and what it answered then. */
const FOLDER = fileURLToPath(new URL("../../../test/fixtures/", import.meta.url));

export type Version = "0.2.0" | "0.3.0";

export const OLD_KEY = Buffer.alloc(32, 7).toString("base64");

export type Engine = "embedded" | "postgres";

const unpacked = (version: Version, name: string): Buffer =>
  brotliDecompressSync(readFileSync(join(FOLDER, version, `${name}.br`)));

interface Made {
  readonly account_id: string;
  readonly api_key: string;
}

export interface OldFacts {
  readonly atMs: number;
  readonly ada: Made;
  readonly free: Made;
  readonly off: Made;
  readonly second: Made;
  readonly revoked: Made;
  readonly page: Made;
  /** JSON of the command. */
  readonly tokenSecret: string;
  readonly hooks: Readonly<Record<string, { readonly id: string }>>;
  readonly cookie: string;
  readonly keysSeen: string;
  readonly bulk: { readonly session: string };
  readonly view: string;
  readonly csv: string;
  readonly open: { readonly session: string };
  readonly decisions: readonly {
    readonly email: string;
    readonly decision: string;
    readonly reason: string;
    readonly mailbox: { readonly id: string };
  }[];
  /** A list of the dashboard; not in 0.2.0. */
  readonly list?: { readonly id: string; readonly rows: string; readonly csv: string };
}

export const oldFacts = (version: Version, engine: Engine): OldFacts =>
  JSON.parse(unpacked(version, `${engine}.json`).toString("utf8")) as OldFacts;

export type Row = Readonly<Record<string, unknown>>;

/** Past all code of the store. */
export interface RawDatabase {
  run(sql: string): Promise<readonly Row[]>;
  /** Each with its columns. */
  tables(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Columns and indexes in words, sorted. */
  shape(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export function rawEmbedded(dataDir: string): RawDatabase {
  const db = openSqlite(join(dataDir, "gatepost.db"));
  const run = (sql: string): Promise<readonly Row[]> =>
    Promise.resolve(db.prepare(sql).all() as Row[]);
  return {
    run,
    tables: async () =>
      grouped(
        await run(`select m.name as "table", c.name as "column" from sqlite_schema m, pragma_table_info(m.name) c
                   where m.type = 'table'`),
      ),
    shape: async () =>
      shown(
        await run(`select m.name as t, c.name, c.type, c."notnull", c.dflt_value, c.pk from sqlite_schema m, pragma_table_info(m.name) c
                   where m.type = 'table'`),
        await run("select tbl_name, name, sql from sqlite_schema where type = 'index'"),
      ),
    close: () => Promise.resolve(db.close()),
  };
}

export async function rawPostgres(connectionString: string): Promise<RawDatabase> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const run = async (sql: string): Promise<readonly Row[]> => (await client.query<Row>(sql)).rows;
  const columns = "from information_schema.columns where table_schema = 'public'";
  return {
    run,
    tables: async () =>
      grouped(await run(`select table_name as "table", column_name as "column" ${columns}`)),
    shape: async () =>
      shown(
        await run(
          `select table_name, column_name, data_type, is_nullable, column_default ${columns}`,
        ),
        await run("select tablename, indexdef from pg_indexes where schemaname = 'public'"),
      ),
    close: () => client.end(),
  };
}

function grouped(rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, string[]>();
  for (const { table, column } of rows) {
    tables.set(String(table), [...(tables.get(String(table)) ?? []), String(column)]);
  }
  return tables;
}

const shown = (...rows: readonly (readonly Row[])[]): readonly string[] =>
  rows
    .flat()
    .map((row) => JSON.stringify(row))
    .sort();

/** Puts the database of a version there, as old as if it had been used a moment ago. */
export async function putOldDatabase(
  engine: Engine,
  place: string,
  version: Version = "0.2.0",
): Promise<void> {
  if (engine === "embedded") {
    writeFileSync(join(place, "gatepost.db"), unpacked(version, "embedded.db"), { mode: 0o600 });
  }
  const raw = engine === "embedded" ? rawEmbedded(place) : await rawPostgres(place);
  if (engine === "postgres") {
    await raw.run(unpacked(version, "postgres.sql").toString("utf8"));
    await raw.run("set search_path = public");
  }
  const agedMs = Date.now() - oldFacts(version, engine).atMs;
  for (const [table, columns] of await raw.tables()) {
    if (table === "schema_migrations") continue;
    for (const column of columns) {
      const unit = UNITS.find(([name]) => name.test(column))?.[1];
      if (unit === undefined) continue;
      const more = String(Math.floor(agedMs / unit));
      // In two steps, so that no two rows have one key on the way.
      await raw.run(`update ${table} set ${column} = -(${column} + ${more})`);
      await raw.run(`update ${table} set ${column} = -${column}`);
    }
  }
  await raw.close();
}

const UNITS: readonly (readonly [name: RegExp, ms: number])[] = [
  [/^(?!duration).*_ms$/, 1],
  [/^day$/, 86_400_000],
  [/^hour$/, 3_600_000],
];

/** Rows of all tables, as texts of the columns that they have there. */
export async function allRows(
  raw: RawDatabase,
  tables: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = new Map<string, readonly string[]>();
  for (const [table, columns] of tables) {
    rows.set(table, shown(await raw.run(`select ${columns.join(", ")} from ${table}`)));
  }
  return rows;
}
