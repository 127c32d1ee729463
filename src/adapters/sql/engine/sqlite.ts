import type * as sqlite from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
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

/** Opens one file, or ":memory:". `busyTimeoutMs` is how long a writer waits for another process or thread. */
export function openSqlite(path: string, busyTimeoutMs = 5_000): sqlite.DatabaseSync {
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

function statement(db: sqlite.DatabaseSync, sql: string): SqliteStatement {
  const prepared = db.prepare(sql);
  const bound = (parameters: readonly unknown[]): sqlite.SQLInputValue[] =>
    parameters as sqlite.SQLInputValue[];
  return {
    reader: prepared.columns().length > 0,
    all: (parameters) => prepared.all(...bound(parameters)),
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

/**
 * Hands the one connection on first come, first served. After a commit, which syncs the disk on this very thread, the
 * event loop has a round: otherwise a thousand requests that each write a little would hold up everything else.
 * Takes the write lock at the start of a transaction: a deferred one that reads first fails at once with 517, despite
 * the timeout.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;
  #hasCommitted = false;

  override async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    return super.acquireConnection();
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection();
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
  readonly #db: sqlite.DatabaseSync;

  constructor(db: sqlite.DatabaseSync) {
    super({ database: { prepare: cachedStatements(db), close: () => db.close() } });
    this.#db = db;
  }

  override createDriver(): Driver {
    const db = this.#db;
    return new ImmediateDriver({
      database: { prepare: cachedStatements(db), close: () => db.close() },
    });
  }
}

export const sqliteDialect = (db: sqlite.DatabaseSync): SqliteDialect => new EmbeddedDialect(db);
