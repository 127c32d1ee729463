import type * as sqlite from "node:sqlite";
import { setImmediate as nextRound, setTimeout as pause } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
} from "kysely";

/** Some versions of Node warn that their SQLite is experimental. Users of a command cannot act on it. */
function builtInSqlite(): typeof sqlite | undefined {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** node:sqlite where Node has a whole one; the same class from a package on Node 20. */
const builtIn = builtInSqlite();
// `columns` came with 22.16; the built-in of 22.13 to 22.15 also ignores the timeout option.
const specifier =
  builtIn !== undefined && "columns" in builtIn.StatementSync.prototype
    ? "node:sqlite"
    : "@photostructure/sqlite";
const engine = (await import(specifier)) as typeof sqlite;

/** Which engine this Node uses; for people. */
export const engineName: string = specifier;

/** How long a statement waits for another process or thread. */
const BUSY_TIMEOUT_MS = 5_000;

/** Opens one file, or ":memory:"; its own statements wait for locks, and the thread with them. */
export function openSqlite(path: string, busyTimeoutMs = BUSY_TIMEOUT_MS): sqlite.DatabaseSync {
  const db = new engine.DatabaseSync(path, { timeout: busyTimeoutMs });
  db.exec("pragma auto_vacuum = incremental"); // before the first table; in a file that has tables it changes nothing
  db.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  db.exec("pragma secure_delete = on"); // deleted rows held address lists
  return db;
}

/**
 * Copies the database at `from` into `to`, which is empty or missing, as it is at one moment; others may write
 * meanwhile. Throws when `to` is then not sound.
 */
export function copySqlite(from: string, to: string): void {
  const source = new engine.DatabaseSync(from, { timeout: 5_000 });
  try {
    source.prepare("vacuum into ?").run(to);
  } finally {
    source.close();
  }
  const copy = new engine.DatabaseSync(to, { readOnly: true });
  try {
    const said = Object.values(copy.prepare("pragma quick_check(1)").get() ?? {});
    if (said[0] !== "ok") throw new Error(`the copy is not sound: ${String(said[0])}`);
  } finally {
    copy.close();
  }
}

/** What SQLite says for the result codes that we tell apart (sqlite.org/rescode.html, sqlite3_errstr). */
const RESULT_CODES = new Map([
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
]);

/** Gives an error the result code that the package leaves out when a statement with rows fails. */
function numbered(error: unknown): unknown {
  if (!(error instanceof Error) || "errcode" in error) return error;
  const errcode = RESULT_CODES.get(error.message);
  return errcode === undefined ? error : Object.assign(error, { errcode });
}

function statement(db: sqlite.DatabaseSync, sql: string): SqliteStatement {
  const prepared = db.prepare(sql);
  const bound = (parameters: readonly unknown[]): sqlite.SQLInputValue[] =>
    parameters as sqlite.SQLInputValue[];
  return {
    reader: prepared.columns().length > 0,
    all: (parameters) => {
      try {
        return prepared.all(...bound(parameters));
      } catch (error) {
        throw numbered(error);
      }
    },
    run: (parameters) => prepared.run(...bound(parameters)),
    iterate: (parameters) => prepared.iterate(...bound(parameters)) as IterableIterator<unknown>,
  };
}

/** How many prepared statements are kept, by their text. */
const STATEMENTS_MAX = 500;

function cachedStatements(db: sqlite.DatabaseSync): (sql: string) => SqliteStatement {
  const statements = new Map<string, SqliteStatement>();
  return (sql) => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    if (statements.size >= STATEMENTS_MAX) statements.clear();
    const made = statement(db, sql);
    statements.set(sql, made);
    return made;
  };
}

/** Looks whether another thread or process has given the lock back: first in each round of the event loop, then each ms. */
const ROUNDS = 20;
const LOOK_EVERY_MS = 1;

const SQLITE_BUSY = 5;

/** Whether the file was locked by another thread or process. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  "errcode" in error &&
  typeof error.errcode === "number" &&
  (error.errcode & 0xff) === SQLITE_BUSY;

/**
 * Waits for a lock that another thread or process holds while the event loop goes on. SQLite's own waiting stops the
 * thread, for up to 100 ms at a time: a bulk thread that stores results would hold up every single check.
 */
class PatientConnection implements DatabaseConnection {
  readonly #own: DatabaseConnection;
  readonly #busyTimeoutMs: number;

  constructor(own: DatabaseConnection, busyTimeoutMs: number) {
    this.#own = own;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** A statement that finds the file locked has changed nothing. */
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const looksMax = ROUNDS + this.#busyTimeoutMs / LOOK_EVERY_MS;
    for (let looks = 1; ; looks += 1) {
      try {
        return await this.#own.executeQuery<R>(query);
      } catch (error) {
        if (looks >= looksMax || !isBusy(error)) throw error;
      }
      await (looks <= ROUNDS ? nextRound() : pause(LOOK_EVERY_MS));
    }
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#own.streamQuery<R>(query, chunkSize);
  }
}

/**
 * Hands the one connection on first come, first served. After a commit, which syncs the disk on this very thread, the
 * event loop has a round: otherwise a thousand requests that each write a little would hold up everything else.
 * Takes the write lock at the start of a transaction: a deferred one that reads first fails at once with 517, despite
 * the timeout.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #busyTimeoutMs: number;
  readonly #waiting: (() => void)[] = [];
  #connection: DatabaseConnection | undefined;
  #isTaken = false;
  #hasCommitted = false;

  constructor(config: SqliteDialectConfig, busyTimeoutMs: number) {
    super(config);
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    this.#connection ??= new PatientConnection(
      await super.acquireConnection(),
      this.#busyTimeoutMs,
    );
    return this.#connection;
  }

  override async releaseConnection(): Promise<void> {
    const handOn = (): void => {
      this.#isTaken = this.#waiting.length > 0;
      this.#waiting.shift()?.();
    };
    // Also when nobody waits yet: requests that came together begin one after the other.
    if (this.#hasCommitted) setImmediate(handOn);
    else handOn();
    this.#hasCommitted = false;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#hasCommitted = true;
    await super.commitTransaction(connection);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  /** What SQLite undid by itself, as on a full disk, needs no more; the fault that made it do so must not be hidden. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!(error instanceof Error && /no transaction is active/.test(error.message))) throw error;
    }
  }
}

class EmbeddedDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #busyTimeoutMs: number;

  constructor(config: SqliteDialectConfig, busyTimeoutMs: number) {
    super(config);
    this.#config = config;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config, this.#busyTimeoutMs);
  }
}

/** From now on statements that are run past the dialect do not wait for locks. */
export function sqliteDialect(
  db: sqlite.DatabaseSync,
  busyTimeoutMs = BUSY_TIMEOUT_MS,
): SqliteDialect {
  db.exec("pragma busy_timeout = 0");
  const database = { prepare: cachedStatements(db), close: () => db.close() };
  return new EmbeddedDialect({ database }, busyTimeoutMs);
}
