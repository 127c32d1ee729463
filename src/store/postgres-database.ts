import { randomUUID } from "node:crypto";
import { Kysely, PostgresDialect, sql as raw, sql } from "kysely";
import type { Client, ClientConfig } from "pg";
import { type Clock, inTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { DatabaseFault } from "./database-fault.ts";
import type { SqlDatabase } from "./database.ts";
import type { Elections } from "./elections.ts";
import { memoryNotices, type Notices, type Topic, TOPICS } from "./notices.ts";
import { openingFault, storeDown } from "./postgres-fault.ts";
import {
  type Driver,
  LIMITS,
  openPool,
  type PostgresLimits,
  type SessionPool,
} from "./postgres-pool.ts";
import type { Database } from "./schema.ts";
import { takesWrites } from "./takes-writes.ts";
import { hasRivals, type Tx } from "./transaction.ts";
import { migrate, needsSteps, type SchemaUse, type Upgrading } from "./upgrade.ts";

const CHANNEL = "gatepost";

/** A session that says nothing for longer is given up, here and by the server, which then frees its locks. */
const BEAT_EVERY_MS = 5_000;
const ANSWER_MS = 2_000;
const RETRY_MS = 1_000;
/** The kernel answers for a process that hangs; only the server sees that it asks nothing any more. */
const SERVER_ENDS = [
  "idle_session_timeout=20000",
  "tcp_keepalives_idle=10",
  "tcp_keepalives_interval=5",
  "tcp_keepalives_count=3",
];

export interface SessionDeps {
  readonly url: string;
  readonly db: Kysely<Database>;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "info" | "warn">;
}

/** Tells every process of `topic` when the transaction is committed. */
export async function tellIn({ sql }: Tx, topic: Topic): Promise<void> {
  if (hasRivals(sql)) await raw`select pg_notify(${CHANNEL}, ${topic})`.execute(sql);
}

/** Notices of a process that hears only its own; `sent` waits until they are on their way. */
export function postgresTeller(
  db: Kysely<Database>,
  from = randomUUID(),
): Pick<Notices, "tell"> & { sent(): Promise<void> } {
  const sending = new Set<Promise<unknown>>();
  return {
    tell(topic) {
      // A notice that is lost is made good by the polls of those who would have heard it.
      const told = raw`select pg_notify(${CHANNEL}, ${`${topic} ${from}`})`.execute(db);
      const done = told.catch(() => undefined).finally(() => sending.delete(done));
      sending.add(done);
    },
    async sent() {
      await Promise.all(sending);
    },
  };
}

/** The one session that a serving process keeps: it receives notices and has the locks of duties. */
export class DirectSession {
  readonly #driver: Driver;
  readonly #deps: SessionDeps;
  readonly #name = randomUUID();
  readonly #here = memoryNotices();
  readonly #duties = new Map<string, () => void>();
  readonly #asked = new Set<string>();
  readonly #teller: ReturnType<typeof postgresTeller>;
  readonly listens: Promise<void>;
  #nowListens = (): void => undefined;
  #client: Client | undefined;
  #isClosed = false;
  #isSaid = false;
  #callOff = (): void => undefined;

  constructor(driver: Driver, deps: SessionDeps) {
    this.#driver = driver;
    this.#deps = deps;
    this.#teller = postgresTeller(deps.db, this.#name);
    this.listens = new Promise((resolve) => (this.#nowListens = resolve));
    void this.#connect();
  }

  readonly notices: Notices = {
    tell: (topic) => {
      this.#here.tell(topic);
      this.#teller.tell(topic);
    },
    hear: (topic, listener) => this.#here.hear(topic, listener),
  };

  readonly elections: Elections = {
    free: async () => {
      const free = raw<{ duty: string }>`
        select duty from unnest(${[...this.#asked]}::text[]) as duty
        where not exists (
          select from pg_locks where locktype = 'advisory' and granted and classid = ${LOCKS}
            and objid::bigint = hashtext(duty)::bigint & 4294967295
            and database = (select oid from pg_database where datname = current_database()))`;
      return (await free.execute(this.#deps.db)).rows.map(({ duty }) => duty);
    },
    take: async (duty, lost) => {
      this.#asked.add(duty);
      const client = this.#client;
      if (client === undefined) throw storeDown(new Error("the session is lost"));
      if (this.#duties.has(duty)) return true;
      const { rows } = await this.#ask(
        client,
        "select pg_try_advisory_lock($1, hashtext($2))",
        duty,
      );
      const isTaken = rows[0]?.["pg_try_advisory_lock"] === true;
      if (isTaken && client !== this.#client) throw storeDown(new Error("the session is lost"));
      if (isTaken) this.#duties.set(duty, lost);
      return isTaken;
    },
    resign: async (duty) => {
      if (!this.#duties.delete(duty) || this.#client === undefined) return;
      await this.#ask(this.#client, "select pg_advisory_unlock($1, hashtext($2))", duty);
    },
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOff();
    await this.#teller.sent();
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    const ended = client.end().catch(() => undefined);
    await inTime(ended, { timeoutMs: ANSWER_MS, late: undefined, clock: this.#deps.clock });
  }

  async #connect(): Promise<void> {
    const client = new this.#driver.Client(clientConfig(this.#deps.url));
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ payload = "" }) => this.#receive(payload));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      if (this.#isClosed) return void client.end().catch(() => undefined);
    } catch (fault) {
      client.end().catch(() => undefined);
      return this.#retry(fault);
    }
    this.#client = client;
    if (this.#isSaid) this.#deps.log.info("notices.available");
    this.#isSaid = false;
    this.#nowListens();
    // What was told meanwhile is lost.
    for (const topic of TOPICS) this.#here.tell(topic);
    this.#beatLater(client);
  }

  #beatLater(client: Client): void {
    this.#callOff = this.#deps.clock.after(BEAT_EVERY_MS, () => {
      client.query("select 1").then(
        () => client === this.#client && this.#beatLater(client),
        () => this.#lose(client),
      );
    });
  }

  /** The server has freed the locks, or will soon: what they allow ends here first. */
  #lose(client: Client): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#callOff();
    client.end().catch(() => undefined);
    const lost = [...this.#duties.values()];
    this.#duties.clear();
    for (const tell of lost) tell();
    this.#retry(new Error("the session is lost"));
  }

  #retry(fault: unknown): void {
    if (this.#isClosed) return;
    if (!this.#isSaid) {
      const why = fault instanceof Error ? fault.message : String(fault);
      this.#deps.log.warn("notices.unavailable", { why });
    }
    this.#isSaid = true;
    this.#callOff = this.#deps.clock.after(RETRY_MS, () => void this.#connect());
  }

  #receive(payload: string): void {
    const [topic, from] = payload.split(" ");
    if (from !== this.#name && TOPICS.some((known) => known === topic))
      this.#here.tell(topic as Topic);
  }

  async #ask(client: Client, sql: string, duty: string) {
    try {
      return await client.query<Record<string, unknown>>(sql, [LOCKS, duty]);
    } catch (fault) {
      throw storeDown(fault);
    }
  }
}

const LOCKS = 0x6761_7465;

const clientConfig = (connectionString: string): ClientConfig => ({
  connectionString,
  application_name: "gatepost notices",
  connectionTimeoutMillis: LIMITS.connectTimeoutMs,
  query_timeout: ANSWER_MS,
  statement_timeout: LIMITS.statementTimeoutMs,
  keepAlive: true,
  options: SERVER_ENDS.map((setting) => `-c ${setting}`).join(" "),
});

const VERSION_MIN = 150_000;

const LOOK_TIMEOUT_MS = 60_000;
/** Steps take what they take, and who starts beside them waits; the kernel finds out when the server's machine is gone. */
const UPGRADE_TIMEOUT_MS = 24 * 3_600_000;

/** Two sessions that wait for no locked row for long, so that other owners do not wait. */
const COUNTING = { connectionsMax: 2, lockTimeoutMs: 200 };

export interface PostgresDatabase extends SqlDatabase {
  /** For counting requests. Its commits do not wait for the disk. */
  readonly counting: SessionPool;
  readonly general: SessionPool;
  /** Throws a `DatabaseFault` when a pooler is between that lends sessions to several clients. */
  requireOwnSessions(): Promise<void>;
  openSession(deps: Pick<SessionDeps, "clock" | "log">): DirectSession;
}

export interface PostgresOptions extends Partial<PostgresLimits> {
  readonly schema?: SchemaUse;
  readonly upgrading?: Upgrading;
}

const FIRST_CONNECT_TIMEOUT_MS = 5_000;

/** Opens the PostgreSQL database of `url` and brings it to this program's schema. Throws a `DatabaseFault` without a password. */
export async function openPostgres(
  url: string,
  nowMs: number,
  { schema = "migrate", upgrading = {}, ...options }: PostgresOptions = {},
): Promise<PostgresDatabase> {
  const place = placeOf(url);
  const { default: driver } = await import("pg");
  const open = (pool: SessionPool): Kysely<Database> =>
    new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    const within = (timeoutMs: number) => open(openPool(driver, url, forStart(options, timeoutMs)));
    const isBehind = await ending(within(LOOK_TIMEOUT_MS), async (db) => {
      await requireFit(db, place);
      return needsSteps(db, schema, upgrading.migrations);
    });
    if (isBehind) {
      await ending(within(UPGRADE_TIMEOUT_MS), (db) => migrate(db, nowMs, upgrading));
    }
  } catch (error) {
    throw openingFault(place, error);
  }
  const general = openPool(driver, url, { ...LIMITS, ...options });
  const db = open(general);
  const fast = { ...LIMITS, ...options, ...COUNTING };
  const counting = openPool(driver, url, fast, ["synchronous_commit=off"]);
  return {
    db,
    counting,
    general,
    async requireOwnSessions() {
      if (await lends(driver, url, place)) throw new DatabaseFault("unusable", pooledWords(place));
    },
    openSession: (deps) => new DirectSession(driver, { ...deps, url, db }),
    answers: () => takesWrites(db),
    async close() {
      await Promise.all([db.destroy(), counting.end()]);
    },
  };
}

const MARK = "gatepost.mark";
const ROUNDS = 3;

/**
 * Whether a pooler lends one session of the server to several clients, as PgBouncer does in the modes "transaction" and
 * "statement": a setting that one client made is then seen by another. Rejects when the server does not answer.
 */
async function lendsSessions({ Client }: Driver, config: ClientConfig): Promise<boolean> {
  const [one, other] = [new Client(config), new Client(config)];
  for (const client of [one, other]) client.on("error", () => undefined);
  const marked = async (client: typeof one): Promise<boolean> => {
    const { rows } = await client.query<{ mark: string | null }>(
      "select current_setting($1, true) as mark",
      [MARK],
    );
    return (rows[0]?.mark ?? "") !== "";
  };
  try {
    await Promise.all([one.connect(), other.connect()]);
    for (let round = 0; round < ROUNDS; round += 1) {
      await one.query("select set_config($1, 'set', false)", [MARK]);
      // A transaction keeps the session that it was lent, so that the first client is lent another one.
      await other.query("begin");
      if ((await marked(other)) || !(await marked(one))) return true;
      await other.query("rollback");
    }
    return false;
  } catch (error) {
    if (error instanceof Error && /transaction blocks not allowed/.test(error.message)) return true;
    throw error;
  } finally {
    await Promise.allSettled([one.end(), other.end()]);
  }
}

async function lends(driver: Driver, url: string, place: string): Promise<boolean> {
  try {
    return await lendsSessions(driver, clientConfig(url));
  } catch (error) {
    throw openingFault(place, storeDown(error));
  }
}

const pooledWords = (place: string): string =>
  `PostgreSQL ${place}: a connection pooler in transaction mode is between, which loses locks, notices and settings. ` +
  "Connect directly, or set the pooler to session mode (pool_mode = session)";

export async function isPooled(url: string): Promise<boolean> {
  const { default: driver } = await import("pg");
  return lends(driver, url, placeOf(url));
}

const forStart = (options: Partial<PostgresLimits>, timeoutMs: number): PostgresLimits => ({
  connectTimeoutMs: FIRST_CONNECT_TIMEOUT_MS,
  ...options,
  connectionsMax: 1,
  answerTimeoutMs: timeoutMs,
  statementTimeoutMs: timeoutMs,
  lockTimeoutMs: timeoutMs,
  idleInTransactionTimeoutMs: timeoutMs,
});

async function ending<T>(
  db: Kysely<Database>,
  use: (db: Kysely<Database>) => Promise<T>,
): Promise<T> {
  try {
    return await use(db);
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
