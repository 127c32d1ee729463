import type * as sqlite from "node:sqlite";
import type { SqliteDialect, SqliteStatement } from "kysely";
import type { LogSync } from "./log-sync.ts";
import { EmbeddedDialect } from "./sqlite-driver.ts";

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

/** The first patch of these versions that has the repair, which all later ones have. */
const REPAIRED = new Map([
  ["3.44", 6],
  ["3.50", 7],
  ["3.51", 3],
]);

/**
 * Whether this SQLite keeps what two connections commit. Before, a commit could be lost, and the file with it, when both
 * copied the log at the same moment (sqlite.org/wal.html#walresetbug); here the bulk thread has a connection of its own.
 */
export function keepsCommits(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const repaired = REPAIRED.get(`${String(major)}.${String(minor)}`);
  return repaired === undefined ? major > 3 || (major === 3 && minor > 51) : patch >= repaired;
}

/** node:sqlite where Node has a whole and sound one; the same class from a package elsewhere, on Node 20 too. */
const builtIn = builtInSqlite();
// `columns` came with 22.16; the built-in of 22.13 to 22.15 also ignores the timeout option.
const specifier =
  builtIn !== undefined &&
  "columns" in builtIn.StatementSync.prototype &&
  keepsCommits(process.versions["sqlite"] ?? "")
    ? "node:sqlite"
    : "@photostructure/sqlite";
const engine = (await import(specifier)) as typeof sqlite;

/** Which engine this Node uses; for people. */
export const engineName: string = specifier;

/** How long a statement waits for another process or thread. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens one file, or ":memory:"; its own statements wait for locks, and the thread with them. Its commits do not wait
 * for the disk: `sqliteDialect` does where asked.
 */
export function openSqlite(path: string, busyTimeoutMs = BUSY_TIMEOUT_MS): sqlite.DatabaseSync {
  const db = new engine.DatabaseSync(path, { timeout: busyTimeoutMs });
  db.exec("pragma auto_vacuum = incremental"); // before the first table; in a file that has tables it changes nothing
  db.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on");
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

export interface SqliteDialectOptions {
  readonly busyTimeoutMs?: number;
  /** Writes wait for it. Undefined: a machine that fails may lose the last of them. */
  readonly log?: LogSync | undefined;
}

/** From now on statements that are run past the dialect do not wait for locks. */
export function sqliteDialect(
  db: sqlite.DatabaseSync,
  { busyTimeoutMs = BUSY_TIMEOUT_MS, log }: SqliteDialectOptions = {},
): SqliteDialect {
  db.exec("pragma busy_timeout = 0");
  const database = { prepare: cachedStatements(db), close: () => db.close() };
  return new EmbeddedDialect({ database }, { busyTimeoutMs, log });
}
