import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import type { Lifetime } from "../timeline.ts";

/** A process that uses the store. */
export interface StoreUser {
  readonly life: Lifetime;
  /** Called before and after each statement; may end or freeze the process. */
  readonly step: (sql: string) => void;
  /** How many migrations of later versions its program has; 0 unless given. */
  readonly later?: number;
}

/** One session of a process. */
export interface Session extends StoreUser {
  askedMs: number;
  /** The server has undone its transaction. */
  isLost: boolean;
}

/** What takes sessions and answers them. */
export interface Sessions {
  acquire(session: Session): Promise<void>;
  release(session: Session): void;
  ask(session: Session, query: CompiledQuery): Promise<QueryResult<never>>;
}

/** The sessions of one simulated process. */
export class StoreDriver implements Driver {
  readonly #store: Sessions;
  readonly #user: StoreUser;

  constructor(store: Sessions, user: StoreUser) {
    this.#store = store;
    this.#user = user;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  /** Each has a session of its own, so that two transactions of one process wait for each other, too. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const { life, step } = this.#user;
    const session = { life, step, askedMs: 0, isLost: false };
    await this.#store.acquire(session);
    return new StoreConnection(this.#store, session);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(raw("begin immediate"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(raw("rollback"));
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as StoreConnection).release();
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

const raw = (sql: string): CompiledQuery =>
  ({ sql, parameters: [], query: { kind: "RawNode" } }) as unknown as CompiledQuery;

class StoreConnection implements DatabaseConnection {
  readonly #store: Sessions;
  readonly #session: Session;

  constructor(store: Sessions, session: Session) {
    this.#store = store;
    this.#session = session;
  }

  release(): void {
    this.#store.release(this.#session);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return await this.#store.ask(this.#session, query);
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error("no adapter streams");
  }
}

/** Statements of PostgreSQL alone that change nothing where one session at a time has the store, in memory. */
const SERVER_ONLY = /^(?:select pg_advisory_xact_lock\(|set local )/;

/** A statement of the adapters as SQLite takes it. */
export function withoutLocks(sql: string): string {
  if (SERVER_ONLY.test(sql)) return sql.includes("?") ? "select 1 where ? is null" : "select 1";
  return sql.replaceAll(/ for update(?: of \S+)?(?: skip locked| nowait)?/g, "");
}
