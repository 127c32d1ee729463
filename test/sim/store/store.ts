import {
  type CompiledQuery,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { SqlDatabase } from "../../../src/store/database.ts";
import { MIGRATIONS } from "../../../src/store/migrations.ts";
import type { Database } from "../../../src/store/schema.ts";
import { migrate } from "../../../src/store/upgrade.ts";
import { openSqlite } from "../../../src/store/embedded/sqlite.ts";
import { StoreDown } from "../../../src/base/store-down.ts";
import type { Chance } from "../chance.ts";
import { LATER_MIGRATIONS } from "./later-schema.ts";
import { NO_FAULTS, type StoreFaults } from "./store-faults.ts";
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

/**
 * The real SQL on SQLite in memory. One session at a time has the store, as SQLite's write lock has it. What a process
 * that dies left open is rolled back.
 */
export class SimulatedStore implements Sessions {
  readonly faults: StoreFaults = { ...NO_FAULTS };
  readonly #engine: Engine = openSqlite(":memory:");
  readonly #statements = new Map<string, Prepared>();
  readonly #timeline: Timeline;
  readonly #chance: Chance;
  readonly #line: Turn[] = [];
  #holder: Session | undefined;
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
    const { later = 0 } = user;
    const before = this.later;
    const migrations = [...MIGRATIONS, ...LATER_MIGRATIONS.slice(0, later)];
    await migrate(db, this.#timeline.beganMs, { migrations });
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
    await this.#enter(session);
  }

  async #enter(session: Session): Promise<void> {
    const isBusy = this.#holder !== undefined || this.#line.length > 0;
    if (isBusy) await new Promise<void>((take) => this.#line.push({ session, take }));
    else this.#holder = session;
    // A third of the questions take time, so that others come between.
    if (this.#chance.isTrue(0.3)) await this.#pause(session, this.#chance.between(0.1, 4));
  }

  release(session: Session): void {
    if (this.#holder !== session) return;
    this.#holder = undefined;
    for (let next = this.#line.shift(); next !== undefined; next = this.#line.shift()) {
      if (!next.session.life.isAlive) continue;
      this.#holder = next.session;
      next.take();
      return;
    }
  }

  /** The process is dead: what it had open is as if it never was. */
  died(life: Lifetime): void {
    if (this.#holder?.life === life) this.#undo(this.#holder);
  }

  async ask(session: Session, query: CompiledQuery): Promise<QueryResult<never>> {
    await this.#step(session, query.sql);
    if (session.isLost && query.sql === "rollback") return { rows: [] };
    if (this.#holder !== session && !session.isLost) await this.#enter(session);
    if (session.isLost) throw new StoreDown("simulated: the session is lost");
    const result = this.#answer(session, query);
    await this.#step(session, query.sql);
    return result;
  }

  #answer(session: Session, query: CompiledQuery): QueryResult<never> {
    this.#mayFail(session, query.sql);
    const result = this.#run(query);
    if (query.sql === "begin immediate") this.#isInTransaction = true;
    if (ENDS.has(query.sql)) this.#isInTransaction = false;
    return result;
  }

  #pause({ life }: Session, ms: number): Promise<void> {
    return new Promise((go) => void this.#timeline.after(life, ms, go));
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

  #undo(session: Session): void {
    if (this.#isInTransaction) this.#engine.exec("rollback");
    this.#isInTransaction = false;
    session.isLost = true;
    this.release(session);
  }

  #mayFail({ life }: Session, sql: string): void {
    const { failing, commitsFailing } = this.faults;
    if (sql === "rollback" || life.name === "operator") return;
    if (sql === "commit" && this.#chances(commitsFailing)) this.#failCommit();
    if (!this.#chances(failing)) return;
    if (sql === "commit") this.#failCommit();
    throw new StoreDown("simulated");
  }

  #chances(share: number): boolean {
    return share > 0 && this.#chance.isTrue(share);
  }

  #failCommit(): never {
    this.#engine.exec("rollback");
    this.#isInTransaction = false;
    throw new StoreDown("simulated: no answer to the commit");
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
