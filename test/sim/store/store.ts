import {
  type CompiledQuery,
  Kysely,
  PostgresAdapter,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { SqlDatabase } from "../../../src/adapters/sql/engine/database.ts";
import { migrate, MIGRATIONS } from "../../../src/adapters/sql/engine/migrate.ts";
import type { Database } from "../../../src/adapters/sql/engine/schema.ts";
import { LIMITS } from "../../../src/adapters/sql/engine/postgres-pool.ts";
import { openSqlite } from "../../../src/adapters/sql/engine/embedded/sqlite.ts";
import { StoreDown } from "../../../src/ports/process/store-down.ts";
import type { Chance } from "../chance.ts";
import { LATER_MIGRATIONS } from "./later-schema.ts";
import { conflict, NO_FAULTS, type StoreFaults } from "./store-faults.ts";
import {
  type Session,
  type Sessions,
  StoreDriver,
  type StoreUser,
  withoutLocks,
} from "./store-driver.ts";
import type { Lifetime, Timeline } from "../timeline.ts";

interface Turn {
  readonly session: Session;
  readonly take: () => void;
}

type Engine = ReturnType<typeof openSqlite>;
type Statement = ReturnType<Engine["prepare"]>;

interface Prepared {
  readonly statement: Statement;
  readonly hasRows: boolean;
}

/** Between two conflicts: the next try is over by then, also one of so many statements on a slow store. */
const NO_CONFLICT_MS = 200;
const STATEMENTS = 10;
const COMMIT_DONE_SHARE = 0.5;

/**
 * The real SQL on SQLite in memory, shared by all simulated processes. One session at a time has the store, as SQLite's
 * write lock has it: on a server from a transaction's beginning to its end. What a process that dies left open is
 * rolled back.
 */
export class SimulatedStore implements Sessions {
  readonly faults: StoreFaults = { ...NO_FAULTS };
  readonly #engine: Engine = openSqlite(":memory:");
  readonly #statements = new Map<string, Prepared>();
  readonly #timeline: Timeline;
  readonly #chance: Chance;
  readonly #line: Turn[] = [];
  /** As PostgreSQL: a commit may be left without an answer, sessions get lost, and a silent transaction is undone. */
  readonly #isServer: boolean;
  #holder: Session | undefined;
  #watched: Session | undefined;
  #noConflictUntilMs = 0;
  #isInTransaction = false;

  constructor(timeline: Timeline, chance: Chance, isServer: boolean) {
    this.#timeline = timeline;
    this.#chance = chance;
    this.#isServer = isServer;
  }

  async open(user: StoreUser): Promise<SqlDatabase> {
    const driver = new StoreDriver(this, user);
    const db = new Kysely<Database>({
      dialect: {
        // By it the adapters know that other transactions run beside theirs.
        createAdapter: () => (this.#isServer ? new PostgresAdapter() : new SqliteAdapter()),
        createDriver: () => driver,
        createIntrospector: (of) => new SqliteIntrospector(of),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
    const { later = 0 } = user;
    const before = this.later;
    await migrate(db, this.#timeline.beganMs, [...MIGRATIONS, ...LATER_MIGRATIONS.slice(0, later)]);
    if (before > later) throw new Error("simulated: an older program opened a newer store");
    return { db, answers: () => Promise.resolve(true), close: () => db.destroy() };
  }

  /** Migrations of later versions that it has. */
  get later(): number {
    const [table] = this.rows("select 1 from sqlite_schema where name = 'schema_migrations'");
    if (table === undefined) return 0;
    const [row] = this.rows("select max(number) as number from schema_migrations");
    return Math.max(0, Number(row?.["number"] ?? 0) - MIGRATIONS.length);
  }

  /** For a person who looks for why nothing goes on. */
  state(): string {
    return `${this.#holder?.life.name ?? "nobody"} holds, ${this.#line.map(({ session }) => session.life.name).join()} wait`;
  }

  /** Notes what becomes of chunks that are deleted, for the invariants. */
  watchChunks(): void {
    this.#engine.exec(`
      create table watched_chunks (session text, entries integer, claims integer, is_open integer);
      create trigger watch_chunks before delete on chunks begin
        insert into watched_chunks
        values (old.session, old.entries, old.claims, old.available_at_ms is not null);
      end`);
  }

  /** Reads beside everything, for the invariants. */
  rows(sql: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#prepared(sql).statement.all() as Record<string, unknown>[];
  }

  async acquire(session: Session): Promise<void> {
    if (!session.life.isAlive) await never();
    if (!this.#isServer) await this.#enter(session);
  }

  async #enter(session: Session): Promise<void> {
    const isBusy = this.#holder !== undefined || this.#line.length > 0;
    if (isBusy) {
      this.#watchHolder();
      await new Promise<void>((take) => this.#line.push({ session, take }));
    } else this.#hold(session);
    // A third of the questions take time, so that others come between.
    const { slowMs } = this.faults;
    if (slowMs === 0 && !this.#chance.isTrue(0.3)) return;
    await this.#pause(session, this.#chance.between(0.1, 4 + slowMs));
  }

  release(session: Session): void {
    if (this.#holder !== session) return;
    this.#holder = undefined;
    for (let next = this.#line.shift(); next !== undefined; next = this.#line.shift()) {
      if (!next.session.life.isAlive) continue;
      this.#hold(next.session);
      next.take();
      return;
    }
  }

  /** The process is dead: what it had open is as if it never was. */
  died(life: Lifetime): void {
    if (this.#holder?.life === life) this.#undo(this.#holder);
  }

  /** The session of the process that has a turn is cut. */
  cut(life: Lifetime): void {
    if (this.#isServer && this.#holder?.life === life) this.#undo(this.#holder);
  }

  async ask(session: Session, query: CompiledQuery): Promise<QueryResult<never>> {
    await this.#step(session, query.sql);
    if (session.isLost && query.sql === "rollback") return { rows: [] };
    await this.#silence(session);
    await this.#reach(session);
    if (this.#holder !== session && !session.isLost) await this.#enter(session);
    if (session.isLost) throw new StoreDown("database", "simulated: the session is lost");
    session.askedMs = this.#timeline.nowMs;
    const result = this.#answer(session, query);
    await this.#step(session, query.sql);
    return result;
  }

  /** Outside of transactions a server gives each statement its own turn. */
  #answer(session: Session, query: CompiledQuery): QueryResult<never> {
    try {
      this.#mayFail(session, query.sql);
      const result = this.#run(query);
      if (query.sql === "begin immediate") this.#isInTransaction = true;
      if (ENDS.has(query.sql)) this.#isInTransaction = false;
      return result;
    } finally {
      if (this.#isServer && !this.#isInTransaction) this.release(session);
    }
  }

  async #silence(session: Session): Promise<void> {
    const leftMs = this.faults.silentUntilMs - this.#timeline.nowMs;
    if (leftMs > 0 && session.life.name !== "operator") await this.#pause(session, leftMs);
  }

  #pause({ life }: Session, ms: number): Promise<void> {
    return new Promise((go) => void this.#timeline.after(life, ms, go));
  }

  /** The process and this server are parted: it gives its session up after a while, and the server notices at once. */
  async #reach(session: Session): Promise<void> {
    const { life } = session;
    const partedMs = life.partedUntilMs - this.#timeline.nowMs;
    if (partedMs <= 0) return;
    await this.#pause(session, Math.min(partedMs, LIMITS.answerTimeoutMs));
    if (life.partedUntilMs <= this.#timeline.nowMs) return;
    if (this.#holder === session) this.#undo(session);
    session.isLost = true;
  }

  /** A process may end here, or stand still. */
  async #step(session: Session, sql: string): Promise<void> {
    const { life } = session;
    session.step(sql);
    if (life.isAlive && life.frozenUntilMs > this.#timeline.nowMs) {
      await this.#pause(session, 0);
    }
    if (!life.isAlive) await never();
  }

  /** Everything stood still, this server too. */
  stoodStill(): void {
    if (this.#holder !== undefined) this.#holder.askedMs = this.#timeline.nowMs;
  }

  #hold(session: Session): void {
    this.#holder = session;
    session.askedMs = this.#timeline.nowMs;
  }

  /** Others wait: a server does not let a silent transaction keep them for ever. */
  #watchHolder(): void {
    const holder = this.#holder;
    if (!this.#isServer || holder === undefined || this.#watched === holder) return;
    this.#watched = holder;
    const look = (afterMs: number): void => {
      this.#timeline.after(undefined, afterMs, () => {
        if (this.#holder !== holder) return;
        const silentMs = this.#timeline.nowMs - holder.askedMs;
        if (silentMs >= LIMITS.idleInTransactionTimeoutMs) this.#undo(holder);
        else look(LIMITS.idleInTransactionTimeoutMs - silentMs);
      });
    };
    look(LIMITS.idleInTransactionTimeoutMs);
  }

  #undo(session: Session): void {
    if (this.#isInTransaction) this.#engine.exec("rollback");
    this.#isInTransaction = false;
    session.isLost = true;
    this.release(session);
  }

  #mayFail({ life }: Session, sql: string): void {
    const { failing, commitsFailing, conflicting } = this.faults;
    if (sql === "rollback" || life.name === "operator") return;
    if (this.#isInTransaction && sql !== "commit" && this.#conflicts(conflicting)) throw conflict();
    if (sql === "commit" && this.#chances(commitsFailing)) this.#failCommit();
    if (!this.#chances(failing)) return;
    if (sql === "commit") this.#failCommit();
    throw new StoreDown("database", "simulated");
  }

  /** The next try finds the other one done. */
  #conflicts(share: number): boolean {
    const { nowMs } = this.#timeline;
    if (nowMs < this.#noConflictUntilMs || !this.#chances(share)) return false;
    this.#noConflictUntilMs = nowMs + NO_CONFLICT_MS + STATEMENTS * this.faults.slowMs;
    return true;
  }

  #chances(share: number): boolean {
    return share > 0 && this.#chance.isTrue(share);
  }

  #failCommit(): never {
    // SQLite is in the process: it never leaves a commit without an answer.
    const isDone = this.#isServer && this.#chance.isTrue(COMMIT_DONE_SHARE);
    this.#engine.exec(isDone ? "commit" : "rollback");
    this.#isInTransaction = false;
    throw new StoreDown("database", "simulated: no answer to the commit");
  }

  #prepared(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#engine.prepare(withoutLocks(sql));
    const made = { statement, hasRows: statement.columns().length > 0 };
    this.#statements.set(sql, made);
    return made;
  }

  #run({ sql, parameters }: CompiledQuery): QueryResult<never> {
    if (sql === "rollback" && !this.#isInTransaction) return { rows: [] };
    const { statement, hasRows } = this.#prepared(sql);
    const values = parameters as Parameters<Statement["all"]>;
    if (hasRows) return { rows: statement.all(...values) as never[] };
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
