import { after, before } from "node:test";
import pg from "pg";
import { openPostgres, type PostgresDatabase } from "../../src/store/postgres-database.ts";
import type { PostgresLimits } from "../../src/store/postgres-pool.ts";
import { testWith } from "../process/require-tool.ts";
import {
  type PostgresOptions,
  postgresPrograms,
  type PostgresServer,
  startPostgres,
} from "./postgres.ts";

/** What the tests of one file share; use it only inside them. */
export interface SharedPostgres {
  readonly server: () => PostgresServer;
  /** The URL of a new database with our schema. */
  readonly database: () => Promise<string>;
  /** One database with our schema, emptied and opened again: for one test at a time, which closes it. */
  readonly open: (nowMs: number) => Promise<PostgresDatabase>;
  /** The same database unchanged, on separate connections, as another process opens it. */
  readonly again: (nowMs: number) => Promise<PostgresDatabase>;
}

const PATIENCE_MS = 60_000;

/** Limits of a minute: for tests that are not about limits, which a busy machine might exceed. */
export const PATIENT: Omit<PostgresLimits, "connectionsMax"> = {
  connectTimeoutMs: PATIENCE_MS,
  answerTimeoutMs: PATIENCE_MS,
  statementTimeoutMs: PATIENCE_MS,
  lockTimeoutMs: PATIENCE_MS,
  idleInTransactionTimeoutMs: PATIENCE_MS,
};

export const openPatiently = (url: string, nowMs: number): Promise<PostgresDatabase> =>
  openPostgres(url, nowMs, PATIENT);

/** Registers tests on a PostgreSQL for this file, or one visible skip named `what` without PostgreSQL. */
export function withPostgres(
  what: string,
  register: (shared: SharedPostgres) => void,
  options: PostgresOptions = {},
): void {
  if (postgresPrograms() === undefined) {
    testWith(["postgresql"], ["postgresql"], what, () => Promise.resolve());
    return;
  }
  let running: PostgresServer | undefined;
  let shared = { url: "", template: "", emptying: "" };
  before(async () => {
    running = await startPostgres(options);
    const url = await running.createDatabase();
    await (await openPatiently(url, 0)).close();
    const template = new URL(url).pathname.slice(1);
    const copy = await running.createDatabase(template);
    shared = { url: copy, template, emptying: await emptyingOf(copy) };
  });
  after(() => running?.close());
  const server = (): PostgresServer => {
    if (running === undefined) throw new Error("the test's PostgreSQL is not started yet");
    return running;
  };
  register({
    server,
    database: () => server().createDatabase(shared.template),
    async open(nowMs) {
      await ask(shared.url, shared.emptying);
      return openPatiently(shared.url, nowMs);
    },
    again: (nowMs) => openPatiently(shared.url, nowMs),
  });
}

/** Statements that restore a database to its current content; a hundred times faster than creating one. */
async function emptyingOf(url: string): Promise<string> {
  const tables = await ask<{ name: string }>(
    url,
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  );
  const statements = ["set session_replication_role = replica"]; // foreign keys do not matter meanwhile
  for (const { name } of tables) {
    const [seeds] = await ask<{ rows: string }>(
      url,
      `select quote_literal(coalesce(json_agg(one), '[]')::text) as rows from ${name} one`,
    );
    statements.push(
      `delete from ${name}`,
      `insert into ${name} select * from json_populate_recordset(null::${name}, ${seeds?.rows ?? "'[]'"})`,
    );
  }
  return statements.join(";");
}

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
