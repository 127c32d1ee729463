import { setTimeout as pause } from "node:timers/promises";
import { type QueryExecutorProvider, sql as raw } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { storeDownOf } from "../base/store-down.ts";
import { DatabaseFault } from "./database-fault.ts";
import { isBusy } from "./embedded/sqlite.ts";
import { type Means, type Migration, MIGRATIONS } from "./migrations.ts";
import { sqlState } from "./postgres-fault.ts";
import { lockName } from "./locks.ts";
import type { Db } from "./schema.ts";
import { hasRivals, inTransaction, type Tx } from "./transaction.ts";

type Applied = readonly { readonly number: number; readonly name: string }[];

/** None where the table of migrations is missing. A role that may make no tables can ask this. */
async function applied(db: Db): Promise<Applied> {
  const tables = hasRivals(db)
    ? raw`select 1 where to_regclass('schema_migrations') is not null`
    : raw`select 1 from sqlite_schema where name = 'schema_migrations'`;
  if ((await tables.execute(db)).rows.length === 0) return [];
  return await db
    .selectFrom("schema_migrations")
    .select(["number", "name"])
    .orderBy("number")
    .execute();
}

const MIGRATIONS_TABLE = raw`
  create table if not exists schema_migrations (
    number integer primary key, name text not null, applied_at_ms bigint not null
  )`;

const OLDER_SCHEMA =
  "the database was made by gatepost 0.1.0 or earlier, and this program cannot bring it up to date; nothing in it " +
  "was changed. Either go on with that version, or export what you need with it and give this one a new database: " +
  "another GATEPOST_DATA_DIR, or another database in DATABASE_URL";
/** The known migrations are the first of those applied, or the other way round. */
function requireKnown(done: Applied, known: readonly Migration[]) {
  if (done.some(({ name }, index) => name !== (known[index]?.name ?? name))) {
    throw new DatabaseFault("older_schema", OLDER_SCHEMA);
  }
  if (done.length <= known.length) return;
  const message =
    `the database has schema ${String(done.length)}, this program knows ` +
    `${String(known.length)}: run the newer version of gatepost`;
  throw new DatabaseFault("newer_schema", message);
}

/** `migrate`: bring the schema up. `create`: only in an empty database. `look`: change nothing. */
export type SchemaUse = "migrate" | "create" | "look";

/** Whether `migrate` is to be called; changes nothing. Throws a `DatabaseFault` where the schema may not be used. */
export async function needsSteps(
  db: Db,
  use: SchemaUse,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<boolean> {
  const done = await applied(db);
  requireKnown(done, migrations);
  if (done.length === migrations.length) return false;
  if (use === "migrate" || (use === "create" && done.length === 0)) return true;
  const message =
    `the database has schema ${String(done.length)}, this program has ${String(migrations.length)}, ` +
    "and this command changes no schema: run gatepost migrate, or start the server of this version";
  throw new DatabaseFault("behind", message);
}

export interface Told {
  readonly log: Pick<Log, "info" | "warn">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

export interface Upgrading extends Partial<Means> {
  readonly told?: Told;
  /** Copies an embedded database, whose schema it is told, before the first step; returns where to. */
  readonly copy?: (schema: number) => string;
  readonly migrations?: readonly Migration[];
  /** Throws where a start of this database would be refused; it has changed nothing then. */
  readonly before?: (db: Db) => Promise<unknown>;
}

const AGAIN_MS = 1_000;

/** Runs all missing steps in one transaction; of several who do so at once the others wait. Throws a `DatabaseFault`. */
export async function migrate(
  db: Db,
  nowMs: number,
  upgrading: Upgrading = {},
): Promise<readonly string[]> {
  if ((await applied(db)).length > 0) await upgrading.before?.(db);
  for (let tries = 1; ; tries += 1) {
    if (!(await needsSteps(db, "migrate", upgrading.migrations))) return [];
    try {
      return await inTransaction(db, (tx) => runSteps(tx, nowMs, upgrading));
    } catch (fault) {
      const cause = heldBy(fault);
      if (cause === undefined) throw fault;
      if (tries === 1) upgrading.told?.log.warn("database.upgrade_waiting", { why: cause });
    }
    await pause(AGAIN_MS);
  }
}

/** Why it may work later: another process migrates or writes, or uses a table that a step changes. */
function heldBy(fault: unknown): string | undefined {
  if (isBusy(fault)) return "another process writes";
  return sqlState(storeDownOf(fault)?.cause) === LOCK_TIMEOUT
    ? "a table that a step changes is in use"
    : undefined;
}

const LOCK_TIMEOUT = "55P03";

/** Who waits for a table holds up all who come after it: servers of the old version wait 1.5 s for a lock. */
const TABLE_LOCK = raw`set local lock_timeout = '1s'`;

async function runSteps(
  tx: Tx,
  nowMs: number,
  { copy, told, migrations = MIGRATIONS, ...means }: Upgrading,
): Promise<readonly string[]> {
  const isPostgres = hasRivals(tx.sql);
  await lockName(tx, "schema_migrations");
  if (isPostgres) await TABLE_LOCK.execute(tx.sql);
  await MIGRATIONS_TABLE.execute(tx.sql);
  const done = await applied(tx.sql);
  requireKnown(done, migrations);
  const missing = migrations.slice(done.length);
  const reporter = done.length > 0 ? told : undefined;
  if (done.length > 0 && missing.length > 0 && copy !== undefined) {
    const ms = timer(reporter);
    const file = copy(done.length);
    reporter?.log.info("database.copied", { file, ms: ms() });
  }
  for (const [index, migration] of missing.entries()) {
    const number = done.length + index + 1;
    reporter?.log.info("database.step_began", { step: migration.name });
    const ms = timer(reporter);
    await apply(tx, migration, means);
    const values = { number, name: migration.name, applied_at_ms: nowMs };
    await tx.sql.insertInto("schema_migrations").values(values).execute();
    reporter?.log.info("database.step_done", { step: migration.name, ms: ms() });
  }
  if (!isPostgres) await requireWhole(tx);
  return missing.map(({ name }) => name);
}

function timer(told: Told | undefined): () => number {
  const nowMs = (): number => told?.clock.monotonicMs() ?? 0;
  const sinceMs = nowMs();
  return () => Math.round(nowMs() - sinceMs);
}

async function run(db: QueryExecutorProvider, statements = ""): Promise<void> {
  for (const statement of statements.split(/;$/m)) {
    if (statement.trim() !== "") await raw.raw(statement).execute(db);
  }
}

async function apply(tx: Tx, { name, code, ...statements }: Migration, means: Partial<Means>) {
  const secretKey =
    means.secretKey ?? (() => Promise.reject(new Error("this command has no secret key")));
  try {
    await run(tx.sql, statements.sql);
    await run(tx.sql, hasRivals(tx.sql) ? statements.postgres : statements.sqlite);
    await code?.(tx, { secretKey });
  } catch (cause) {
    if (cause instanceof DatabaseFault || isBusy(cause) || storeDownOf(cause)) throw cause;
    throw failed(
      `migration ${name}: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
}

/** SQLite looks at no reference while tables are rebuilt, so that one that others refer to can be replaced. */
async function requireWhole({ sql }: Tx): Promise<void> {
  const { rows } = await raw<{ table: string; parent: string }>`
    pragma foreign_key_check`.execute(sql);
  const [broken] = rows;
  if (broken === undefined) return;
  const lost = `${String(rows.length)} rows without what they refer to, first ${broken.table} to ${broken.parent}`;
  throw failed(`the migrations left ${lost}`);
}

const failed = (what: string, cause?: unknown): DatabaseFault =>
  new DatabaseFault("unusable", `the upgrade failed and changed nothing: ${what}`, { cause });
