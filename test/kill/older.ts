import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Kysely, Kysely as Database, PostgresDialect } from "kysely";
import pg from "pg";
import { dayOf } from "../../src/core/calendar.ts";
import { migrate, MIGRATIONS } from "../../src/adapters/sql/engine/migrate.ts";
import type { Database as Schema } from "../../src/adapters/sql/engine/schema.ts";
import { openSqlite, sqliteDialect } from "../../src/adapters/sql/engine/embedded/sqlite.ts";
import type { Ground } from "./ground.ts";

type Value = string | number | null | { readonly hex: string };
type Row = Readonly<Record<string, Value>>;

/** What a program of version 0.1.0 left in its database when it was killed in the middle of a list of 700 names. */
interface Older {
  /** How many migrations it knew. */
  readonly schema: number;
  readonly madeMs: number;
  readonly apiKey: string;
  readonly session: string;
  readonly rows: Readonly<Record<string, readonly Row[]>>;
}

const FILE = new URL("../../../test/kill/older.json", import.meta.url);

/** As if it had been made just now. */
function shifted(row: Row, madeMs: number, nowMs: number): Record<string, unknown> {
  const shift = (name: string, value: Value): unknown => {
    if (typeof value === "number" && name.endsWith("_ms") && value > 1e12)
      return value + nowMs - madeMs;
    if (typeof value === "number" && name === "day") return value + dayOf(nowMs) - dayOf(madeMs);
    return value !== null && typeof value === "object" ? Buffer.from(value.hex, "hex") : value;
  };
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shift(name, value)]));
}

const openOlder = (ground: Ground): Kysely<Schema> =>
  new Database<Schema>({
    dialect:
      ground.databaseUrl === undefined
        ? sqliteDialect(openSqlite(join(ground.dataDir, "gatepost.db")))
        : new PostgresDialect({ pool: new pg.Pool({ connectionString: ground.databaseUrl }) }),
  });

/** Makes the store of a ground what the older program left, at the schema of that program. */
export async function leaveOlder(ground: Ground): Promise<Older> {
  const older = JSON.parse(readFileSync(FILE, "utf8")) as Older;
  const db = openOlder(ground);
  const nowMs = Date.now();
  await migrate(db, nowMs, MIGRATIONS.slice(0, older.schema));
  for (const [table, rows] of Object.entries(older.rows)) {
    const name = table as keyof Schema;
    await db.deleteFrom(name).execute();
    const values = rows.map((row) => shifted(row, older.madeMs, nowMs));
    await db
      .insertInto(name)
      .values(values as never)
      .execute();
  }
  await db.destroy();
  return older;
}
