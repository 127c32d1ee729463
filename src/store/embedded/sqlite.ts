import { existsSync, statSync } from "node:fs";
import type * as sqlite from "node:sqlite";
import { setImmediate as nextRound, setTimeout as pause } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { LRUCache } from "lru-cache";
import { DiskFull, StoreDown } from "../../base/store-down.ts";
import type { LogSync } from "./log-sync.ts";
import { withoutNul } from "../schema.ts";

/** Looks whether another thread or process has given the lock back: first in each round of the event loop, then each ms. */
const ROUNDS = 20;
const LOOK_EVERY_MS = 1;

const SQLITE_BUSY = 5;

function resultCode(error: unknown): number | undefined {
  const { errcode } = Object(error) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

export const isBusy = (error: unknown): boolean =>
  resultCode(error) === SQLITE_BUSY ||
  (error instanceof StoreDown && resultCode(error.cause) === SQLITE_BUSY);

const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;
const SQLITE_NOTADB = 26;

const AILMENTS = new Map<number | undefined, { readonly why: Ailment; readonly says: string }>([
  [SQLITE_BUSY, { why: "silent", says: "another program holds the database" }],
  [8, { why: "silent", says: "the database may not be written" }],
  [SQLITE_IOERR, { why: "unreadable", says: "the disk does not give or take the database" }],
  [11, { why: "damaged", says: "the database is damaged" }],
  [14, { why: "unreadable", says: "the disk does not open the database" }],
  [SQLITE_NOTADB, { why: "damaged", says: "the database is damaged" }],
]);

/** Why an embedded database does not serve. `gone`: another file, or none, is at its place. `silent`: it takes no writes. */
export type Ailment = "gone" | "refused" | "full" | "damaged" | "unreadable" | "silent";

const COPIES_LOG = /^pragma wal_checkpoint/;
const ENDS = /^(?:begin|commit|rollback|pragma)\b/;

/** What begins and ends transactions, and reads. All else may write. */
const isReading = ({ sql, query }: CompiledQuery): boolean =>
  SelectQueryNode.is(query) ||
  (/^(?:select|pragma|begin|commit|rollback)\b/.test(sql) && !COPIES_LOG.test(sql));

const gone = (): StoreDown =>
  new StoreDown("the file of the database was deleted or replaced: nothing is written to it");

/** As PostgreSQL does: after a sync that failed nobody knows what is on the disk, and only a start reads it again. */
const diskRefused = (cause: unknown): StoreDown =>
  new StoreDown("the disk did not take what was written: nothing is written until a restart", {
    cause,
  });

interface Statement {
  readonly prepared: sqlite.StatementSync;
  readonly hasRows: boolean;
}

const STATEMENTS_MAX = 500;
const BUSY_TIMEOUT_MS = 5_000;

export interface SqliteDialectOptions {
  readonly busyTimeoutMs?: number;
  /** Who wrote gets the connection's answer when the disk has it; absent: at once. */
  readonly log?: LogSync | undefined;
}

/** Hands the one connection on first come, first served. Who wrote waits for the disk without it, and shares its rounds. */
class EmbeddedDriver implements Driver, DatabaseConnection {
  readonly #db: sqlite.DatabaseSync;
  readonly #log: LogSync | undefined;
  readonly #looksMax: number;
  readonly #statements: LRUCache<string, Statement>;
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;
  #hasCommitted = false;
  #hasWritten = false;
  ailing: { readonly why: Ailment; readonly query?: CompiledQuery } | undefined;

  constructor(
    db: sqlite.DatabaseSync,
    { busyTimeoutMs = BUSY_TIMEOUT_MS, log }: SqliteDialectOptions,
  ) {
    this.#db = db;
    this.#log = log;
    this.#looksMax = ROUNDS + busyTimeoutMs / LOOK_EVERY_MS;
    this.#statements = new LRUCache({
      max: STATEMENTS_MAX,
      memoMethod: (text: string) => {
        const prepared = db.prepare(text);
        return { prepared, hasRows: prepared.columns().length > 0 };
      },
    });
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    return this;
  }

  async releaseConnection(): Promise<void> {
    const handOn = (): void => {
      this.#isTaken = this.#waiting.length > 0;
      this.#waiting.shift()?.();
    };
    const isWaiting = this.#hasWritten;
    // Also when nobody waits yet: requests that came together begin one after the other.
    if (this.#hasCommitted) setImmediate(handOn);
    else handOn();
    this.#hasCommitted = false;
    this.#hasWritten = false;
    if (!isWaiting) return;
    try {
      await this.#log?.synced();
    } catch (error) {
      throw diskRefused(error);
    }
  }

  /** Waits for a lock while the event loop goes on; SQLite's own waiting stops the thread, for up to 100 ms at a time. */
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const isRead = isReading(query);
    const refusal = this.#log?.refusal();
    if (refusal !== undefined && !isRead) throw diskRefused(refusal);
    if (this.#log?.isGone() === true && !isRead) throw gone();
    for (let looks = 1; ; looks += 1) {
      try {
        const result = this.#run<R>(query);
        if (!isRead) this.#hasWritten = true;
        return result;
      } catch (error) {
        // A statement that finds the file locked has changed nothing.
        if (looks >= this.#looksMax || !isBusy(error)) throw this.#fault(error, query);
      }
      await (looks <= ROUNDS ? nextRound() : pause(LOOK_EVERY_MS));
    }
  }

  #run<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const values = parameters.map(withoutNul) as sqlite.SQLInputValue[];
    try {
      const { prepared, hasRows } = this.#statements.memo(sql);
      if (hasRows) return { rows: prepared.all(...values) as R[] };
      return { rows: [], numAffectedRows: BigInt(prepared.run(...values).changes) };
    } catch (error) {
      throw numbered(error);
    }
  }

  #fault(error: unknown, query: CompiledQuery): unknown {
    const code = resultCode(error);
    if (code === SQLITE_FULL) return new DiskFull({ cause: error });
    // The package for Node 20 does not say which call was refused.
    if (code === SQLITE_IOERR && COPIES_LOG.test(query.sql)) {
      this.#log?.refuse(error);
      return diskRefused(error);
    }
    const ailment = AILMENTS.get(code);
    if (ailment === undefined) return error;
    const { why, says } = ailment;
    // What begins or ends a transaction cannot be asked again by itself: the probe writes in one of its own.
    if (!isBusy(error)) this.ailing = ENDS.test(query.sql) ? { why } : { why, query };
    return new StoreDown(says, { cause: error });
  }

  streamQuery(): never {
    throw new Error("the embedded database streams no query");
  }

  /** Takes the write lock at once: a transaction that reads first fails with 517 when it writes, despite the timeout. */
  async beginTransaction(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  async commitTransaction(): Promise<void> {
    this.#hasCommitted = true;
    await this.executeQuery(CompiledQuery.raw("commit"));
  }

  /** What SQLite undid by itself, as on a full disk, needs no more; the fault that made it do so must not be hidden. */
  async rollbackTransaction(): Promise<void> {
    this.#hasWritten = false;
    try {
      await this.executeQuery(CompiledQuery.raw("rollback"));
    } catch (error) {
      if (!(error instanceof Error && /no transaction is active/.test(error.message))) throw error;
    }
  }

  async destroy(): Promise<void> {
    await this.#log?.close();
    this.#db.close();
  }
}

/** Kysely shows of a dialect its adapter alone, so it leads to what a transaction may ask of its connection. */
export class EmbeddedAdapter extends SqliteAdapter {
  readonly driver: EmbeddedDriver;

  constructor(driver: EmbeddedDriver) {
    super();
    this.driver = driver;
  }
}

/** From now on statements that are run past the dialect do not wait for locks. */
export function sqliteDialect(
  db: sqlite.DatabaseSync,
  options: SqliteDialectOptions = {},
): Dialect {
  db.exec("pragma busy_timeout = 0");
  const driver = new EmbeddedDriver(db, options);
  return {
    createAdapter: () => new EmbeddedAdapter(driver),
    createDriver: () => driver,
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

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

/** Whether this SQLite keeps what two connections commit (sqlite.org/wal.html#walresetbug). */
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

export const engineName: string = specifier;

export const DATABASE_FILE = "gatepost.db";

/** Its own statements wait for locks, and the thread with them; its commits do not wait for the disk. */
export function openSqlite(path: string, busyTimeoutMs = BUSY_TIMEOUT_MS): sqlite.DatabaseSync {
  const isEmpty = !existsSync(path) || statSync(path).size === 0;
  const db = new engine.DatabaseSync(path, { timeout: busyTimeoutMs });
  // Before the first table: later it changes nothing, and waits for others' writing all the same.
  if (isEmpty) db.exec("pragma auto_vacuum = incremental");
  db.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on");
  db.exec("pragma secure_delete = on"); // deleted rows held address lists
  return db;
}

/** Copies a database as it is at one moment, while others write. Throws when the copy is not sound, or not one of ours. */
export function copySqlite(from: string, to: string): void {
  const source = new engine.DatabaseSync(from, { timeout: 5_000 });
  try {
    source.prepare("vacuum into ?").run(to);
  } finally {
    source.close();
  }
  const copy = new engine.DatabaseSync(to, { readOnly: true });
  try {
    const ours = "select 1 from sqlite_schema where name = 'schema_migrations'";
    if (copy.prepare(ours).get() === undefined) {
      throw Object.assign(new Error("it is not a database of gatepost"), {
        errcode: SQLITE_NOTADB,
      });
    }
    const said = Object.values(copy.prepare("pragma quick_check(1)").get() ?? {});
    if (said[0] !== "ok") throw new Error(`the copy is not sound: ${String(said[0])}`);
  } finally {
    copy.close();
  }
}

const RESULT_CODES = new Map([
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", SQLITE_IOERR],
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
