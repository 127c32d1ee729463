import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { SqlDatabase } from "../../src/adapters/sql/engine/database.ts";
import { migrate } from "../../src/adapters/sql/engine/migrate.ts";
import type { Database } from "../../src/adapters/sql/engine/schema.ts";
import { openSqlite } from "../../src/adapters/sql/engine/sqlite.ts";
import { StoreDown } from "../../src/ports/process/store-down.ts";
import type { Chance } from "./chance.ts";
import type { Lifetime, Timeline } from "./timeline.ts";

export interface StoreFaults {
  /** Statements and commits of this share fail as on a full disk or a lost session. */
  failing: number;
  /** Of the failing commits: the share that happened all the same. */
  unknown: number;
}

/** A process that uses the store. */
export interface StoreUser {
  readonly life: Lifetime;
  /** Called before and after each statement; may end the process. */
  readonly step: () => void;
}

interface Turn {
  readonly user: StoreUser;
  readonly take: () => void;
}

type Engine = ReturnType<typeof openSqlite>;

/**
 * The real SQL on SQLite in memory, shared by all simulated processes. One connection at a time has the store, as
 * SQLite's write lock has it. What a process that dies left open is rolled back.
 */
export class SimulatedStore {
  readonly faults: StoreFaults = { failing: 0, unknown: 0.5 };
  readonly #engine: Engine = openSqlite(":memory:");
  readonly #statements = new Map<string, ReturnType<Engine["prepare"]>>();
  readonly #timeline: Timeline;
  readonly #chance: Chance;
  readonly #line: Turn[] = [];
  #holder: StoreUser | undefined;
  #isInTransaction = false;

  constructor(timeline: Timeline, chance: Chance) {
    this.#timeline = timeline;
    this.#chance = chance;
  }

  async open(user: StoreUser): Promise<SqlDatabase> {
    const driver = new StoreDriver(this, user);
    const db = new Kysely<Database>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => driver,
        createIntrospector: (of) => new SqliteIntrospector(of),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
    await migrate(db, this.#timeline.beganMs);
    return { db, answers: () => Promise.resolve(true), close: () => db.destroy() };
  }

  /** For a person who looks for why nothing goes on. */
  state(): string {
    return `${this.#holder?.life.name ?? "nobody"} holds, ${this.#line.map(({ user }) => user.life.name).join()} wait`;
  }

  /** Reads beside everything, for the invariants. */
  rows(sql: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#engine.prepare(sql).all() as Record<string, unknown>[];
  }

  async acquire(user: StoreUser): Promise<void> {
    if (!user.life.isAlive) await never();
    const isBusy = this.#holder !== undefined || this.#line.length > 0;
    if (isBusy) await new Promise<void>((take) => this.#line.push({ user, take }));
    else this.#holder = user;
    // A third of the questions take time, so that others come between.
    if (!this.#chance.isTrue(0.3)) return;
    const delayMs = this.#chance.between(0.1, 4);
    await new Promise<void>((go) => void this.#timeline.after(user.life, delayMs, go));
  }

  release(user: StoreUser): void {
    if (this.#holder !== user) return;
    this.#holder = undefined;
    for (let next = this.#line.shift(); next !== undefined; next = this.#line.shift()) {
      if (!next.user.life.isAlive) continue;
      this.#holder = next.user;
      next.take();
      return;
    }
  }

  /** The process is dead: what it had open is as if it never was. */
  died(life: Lifetime): void {
    if (this.#holder?.life !== life) return;
    if (this.#isInTransaction) this.#engine.exec("rollback");
    this.#isInTransaction = false;
    this.release(this.#holder);
  }

  async ask(user: StoreUser, query: CompiledQuery): Promise<QueryResult<never>> {
    user.step();
    if (!user.life.isAlive) return await never();
    this.#mayFail(user, query.sql);
    const result = this.#run(query);
    if (query.sql === "begin immediate") this.#isInTransaction = true;
    if (ENDS.has(query.sql)) this.#isInTransaction = false;
    user.step();
    return user.life.isAlive ? result : await never();
  }

  #mayFail({ life }: StoreUser, sql: string): void {
    const { failing } = this.faults;
    if (failing === 0 || sql === "rollback" || life.name === "operator") return;
    if (!this.#chance.isTrue(failing)) return;
    if (sql === "commit") this.#failCommit();
    throw new StoreDown("database", "simulated");
  }

  #failCommit(): never {
    const isDone = this.#chance.isTrue(this.faults.unknown);
    this.#engine.exec(isDone ? "commit" : "rollback");
    this.#isInTransaction = false;
    throw new StoreDown("database", "simulated: no answer to the commit");
  }

  #run({ sql, parameters }: CompiledQuery): QueryResult<never> {
    if (sql === "rollback" && !this.#isInTransaction) return { rows: [] };
    const known = this.#statements.get(sql);
    const statement = known ?? this.#engine.prepare(sql);
    if (known === undefined) this.#statements.set(sql, statement);
    const values = parameters as Parameters<typeof statement.all>;
    if (statement.columns().length > 0) return { rows: statement.all(...values) as never[] };
    const { changes, lastInsertRowid } = statement.run(...values);
    return {
      rows: [],
      numAffectedRows: BigInt(changes),
      insertId: BigInt(lastInsertRowid),
    };
  }
}

const ENDS = new Set(["commit", "rollback"]);

/** Nobody is there to take the answer. */
const never = (): Promise<never> => new Promise(() => undefined);

class StoreDriver implements Driver {
  readonly #store: SimulatedStore;
  readonly #user: StoreUser;

  constructor(store: SimulatedStore, { life, step }: StoreUser) {
    this.#store = store;
    this.#user = { life, step };
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  /** Each has a name of its own, so that two transactions of one process wait for each other, too. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const user = { ...this.#user };
    await this.#store.acquire(user);
    return new StoreConnection(this.#store, user);
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
  readonly #store: SimulatedStore;
  readonly #user: StoreUser;

  constructor(store: SimulatedStore, user: StoreUser) {
    this.#store = store;
    this.#user = user;
  }

  release(): void {
    this.#store.release(this.#user);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return await this.#store.ask(this.#user, query);
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error("no adapter streams");
  }
}
