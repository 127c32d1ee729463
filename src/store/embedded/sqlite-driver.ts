import { setImmediate as nextRound, setTimeout as pause } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import { StoreDown } from "../../base/store-down.ts";
import { holdsNul, withoutNul } from "../without-nul.ts";
import type { LogSync } from "./log-sync.ts";

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
  readonly #wrote: () => void;

  constructor(own: DatabaseConnection, busyTimeoutMs: number, wrote: () => void) {
    this.#own = own;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#wrote = wrote;
  }

  /** A statement that finds the file locked has changed nothing. */
  async executeQuery<R>(asked: CompiledQuery): Promise<QueryResult<R>> {
    const { parameters } = asked;
    const query = parameters.some(holdsNul)
      ? { ...asked, parameters: parameters.map(withoutNul) }
      : asked;
    const looksMax = ROUNDS + this.#busyTimeoutMs / LOOK_EVERY_MS;
    for (let looks = 1; ; looks += 1) {
      try {
        const result = await this.#own.executeQuery<R>(query);
        if (!isReading(query)) this.#wrote();
        return result;
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

export interface EmbeddedTerms {
  /** How long a statement waits for another process or thread. */
  readonly busyTimeoutMs: number;
  /** Who wrote gets the connection's answer when the disk has it; undefined: at once. */
  readonly log: LogSync | undefined;
}

/** What begins and ends transactions, and reads. All else may write. */
const isReading = ({ sql, query }: CompiledQuery): boolean =>
  SelectQueryNode.is(query) || /^(?:select|pragma|begin|commit|rollback)\b/.test(sql);

/**
 * Hands the one connection on first come, first served. After a commit the event loop has a round: otherwise a thousand
 * requests that each write a little would hold up everything else. Who wrote waits for the disk, but not with the
 * connection: others use it meanwhile, and those that commit in that time share the disk's next round.
 * Takes the write lock at the start of a transaction: a deferred one that reads first fails at once with 517, despite
 * the timeout.
 */
class EmbeddedDriver extends SqliteDriver {
  readonly #terms: EmbeddedTerms;
  readonly #waiting: (() => void)[] = [];
  #connection: DatabaseConnection | undefined;
  #isTaken = false;
  #hasCommitted = false;
  #hasWritten = false;
  #isInHurry = false;

  constructor(config: SqliteDialectConfig, terms: EmbeddedTerms) {
    super(config);
    this.#terms = terms;
  }

  /** What the connection's holder writes does not wait for the disk. */
  hurry(): void {
    this.#isInHurry = true;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    this.#connection ??= new PatientConnection(
      await super.acquireConnection(),
      this.#terms.busyTimeoutMs,
      () => (this.#hasWritten = true),
    );
    return this.#connection;
  }

  override async releaseConnection(): Promise<void> {
    const handOn = (): void => {
      this.#isTaken = this.#waiting.length > 0;
      this.#waiting.shift()?.();
    };
    const isWaiting = this.#hasWritten && !this.#isInHurry;
    // Also when nobody waits yet: requests that came together begin one after the other.
    if (this.#hasCommitted) setImmediate(handOn);
    else handOn();
    this.#hasCommitted = false;
    this.#hasWritten = false;
    this.#isInHurry = false;
    if (isWaiting) await this.#disk();
  }

  async #disk(): Promise<void> {
    try {
      await this.#terms.log?.synced();
    } catch (error) {
      throw new StoreDown("the disk did not take what was written", { cause: error });
    }
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
    this.#hasWritten = false;
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!(error instanceof Error && /no transaction is active/.test(error.message))) throw error;
    }
  }

  override async destroy(): Promise<void> {
    await this.#terms.log?.close();
    await super.destroy();
  }
}

/** Kysely shows of a dialect its adapter alone, so it says here what a transaction may ask of its connection. */
export class EmbeddedAdapter extends SqliteAdapter {
  /** To be called by who has the connection: what it writes does not wait for the disk. */
  hurry: () => void = () => undefined;
}

export class EmbeddedDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #terms: EmbeddedTerms;
  readonly #adapter = new EmbeddedAdapter();

  constructor(config: SqliteDialectConfig, terms: EmbeddedTerms) {
    super(config);
    this.#config = config;
    this.#terms = terms;
  }

  override createDriver(): Driver {
    const driver = new EmbeddedDriver(this.#config, this.#terms);
    this.#adapter.hurry = () => driver.hurry();
    return driver;
  }

  override createAdapter(): DialectAdapter {
    return this.#adapter;
  }
}
