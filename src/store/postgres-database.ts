import { Kysely, PostgresDialect, sql } from "kysely";
import type { SqlDatabase } from "./database.ts";
import { DatabaseFault } from "./database-fault.ts";
import { migrate } from "./migrate.ts";
import { openingFault } from "./postgres-fault.ts";
import { LIMITS, openPool, type PostgresLimits, type SessionPool } from "./postgres-pool.ts";
import { type DirectSession, openDirectSession, type SessionDeps } from "./postgres-session.ts";
import type { Database } from "./schema.ts";
import { takesWrites } from "./takes-writes.ts";

/** PostgreSQL 15, as `server_version_num` says it. */
const VERSION_MIN = 150_000;

/** Many may start at once and wait for the one that migrates. */
const MIGRATION_TIMEOUT_MS = 60_000;

/**
 * Two sessions for counting requests. A row that a transaction has locked for longer is asked for on its own, so that
 * other owners do not wait.
 */
const COUNTING = { connectionsMax: 2, lockTimeoutMs: 200 };

export interface PostgresDatabase extends SqlDatabase {
  /** For counting requests. Its commits do not wait for the disk. */
  readonly counting: SessionPool;
  /** The sessions of `db`, for single statements. */
  readonly patient: SessionPool;
  /** Opens the session that hears notices and holds locks. It needs a direct connection. */
  openSession(deps: Pick<SessionDeps, "clock" | "log">): DirectSession;
}

/** During a start no client waits yet, and the machine is busy. */
const FIRST_CONNECT_TIMEOUT_MS = 5_000;

/**
 * Opens the PostgreSQL database of `url` (postgres://user:password@host:port/database, with the options of
 * the `pg` package, `sslmode` among them) and brings it to this program's schema; of many who do so at once
 * one migrates. Throws a `DatabaseFault`, in which the password never stands; then nothing stays open.
 * Every later fault that means "not now" is a `StoreDown`, and sessions come back by themselves.
 */
export async function openPostgres(
  url: string,
  nowMs: number,
  options: Partial<PostgresLimits> = {},
): Promise<PostgresDatabase> {
  const place = placeOf(url);
  const { default: driver } = await import("pg");
  const open = (pool: SessionPool): Kysely<Database> =>
    new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    await prepare(open(openPool(driver, url, forMigration(options))), place, nowMs);
  } catch (error) {
    throw openingFault(place, error);
  }
  const patient = openPool(driver, url, { ...LIMITS, ...options });
  const db = open(patient);
  const fast = { ...LIMITS, ...options, ...COUNTING };
  const counting = openPool(driver, url, fast, ["synchronous_commit=off"]);
  return {
    db,
    counting,
    patient,
    openSession: (deps) => openDirectSession(driver, { ...deps, url, db }),
    answers: () => takesWrites(db),
    async close() {
      await Promise.all([db.destroy(), counting.end()]);
    },
  };
}

/** For the migration alone: one session that may wait for others and take its time. */
const forMigration = (options: Partial<PostgresLimits>): PostgresLimits => ({
  connectTimeoutMs: FIRST_CONNECT_TIMEOUT_MS,
  ...options,
  connectionsMax: 1,
  answerTimeoutMs: MIGRATION_TIMEOUT_MS,
  statementTimeoutMs: MIGRATION_TIMEOUT_MS,
  lockTimeoutMs: MIGRATION_TIMEOUT_MS,
  idleInTransactionTimeoutMs: MIGRATION_TIMEOUT_MS,
});

async function prepare(db: Kysely<Database>, place: string, nowMs: number): Promise<void> {
  try {
    await requireFit(db, place);
    await migrate(db, nowMs);
  } finally {
    await db.destroy();
  }
}

/** Another encoding would take most of what is written, and fail at the first name that it has no letters for. */
async function requireFit(db: Kysely<Database>, place: string): Promise<void> {
  const { rows } = await sql<{ version: string; number: string; encoding: string }>`
    select current_setting('server_version') as version,
           current_setting('server_version_num') as number,
           current_setting('server_encoding') as encoding`.execute(db);
  const { version = "", number, encoding = "" } = rows[0] ?? {};
  if (!(Number(number) >= VERSION_MIN)) {
    const message = `PostgreSQL ${place}: version ${version} is too old, 15 or newer is needed`;
    throw new DatabaseFault("too_old", message);
  }
  if (encoding === "UTF8") return;
  const message = `PostgreSQL ${place}: its encoding is ${encoding}, UTF8 is needed`;
  throw new DatabaseFault("unusable", message);
}

/** "host:port/database" for messages. The URL's own error holds the URL, so it goes no further. */
function placeOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^postgres(?:ql)?:$/.test(parsed.protocol)) {
    const message = "the database's URL must be postgres://user:password@host:port/database";
    throw new DatabaseFault("unusable", message);
  }
  const host = parsed.host === "" ? (parsed.searchParams.get("host") ?? "") : parsed.host;
  return `${host}${parsed.pathname}`;
}
