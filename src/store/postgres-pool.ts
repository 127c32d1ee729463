import { Socket } from "node:net";
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import type pg from "pg";
import type { PoolClient, PoolConfig } from "pg";
import { withoutNul } from "./schema.ts";
import { isSessionLost, queryFault, storeDown } from "./postgres-fault.ts";

/** How many sessions, and how long anything may take; why: docs/decisions/0009-postgresql.md. */
export interface PostgresLimits {
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  /** For the answer to one statement, seen from here; then the session is cut. */
  readonly answerTimeoutMs: number;
  /** The same on the server, which also ends the statement of a client that is gone. */
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** A transaction whose client is silent for this time is undone and its locks are freed. */
  readonly idleInTransactionTimeoutMs: number;
}

/** A request waits for a session and one answer at the most before it is refused: under 3 s together. */
export const LIMITS: PostgresLimits = {
  connectionsMax: 10,
  connectTimeoutMs: 1_000,
  answerTimeoutMs: 1_900,
  statementTimeoutMs: 1_800,
  lockTimeoutMs: 1_500,
  idleInTransactionTimeoutMs: 3_000,
};

/** Idle sessions go after this time: a firewall that forgot one would cost the next request its answer. */
const IDLE_TIMEOUT_MS = 30_000;
const LIFETIME_SECONDS = 1_800;
const KEEP_ALIVE_AFTER_MS = 10_000;

const GOODBYE_MS = 1_000;

/** PostgreSQL's type numbers: bigint, and numeric, which sums of bigint are. Ours stay far below 2^53. */
const NUMBERS = new Set([20, 1700]);

export type Driver = Pick<typeof pg, "Pool" | "Client" | "types">;

export interface NamedStatement {
  readonly name: string;
  readonly sql: string;
}

export interface SessionPool extends PostgresPool {
  run<R>(statement: NamedStatement, values: readonly unknown[]): Promise<readonly R[]>;
}

export function openPool(
  { Pool, types }: Driver,
  connectionString: string,
  limits: PostgresLimits,
  options: readonly string[] = [],
): SessionPool {
  const sockets = new Set<Socket>();
  const pool = new Pool({
    ...settings(connectionString, limits, options),
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        NUMBERS.has(oid) ? Number : types.getTypeParser(oid, format as "text"),
    },
    stream: () => tracked(sockets),
  });
  // An unused session that breaks is replaced; without a listener the event would end the process.
  const ignore = (): void => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  const connect = async (): Promise<PoolClient> => {
    try {
      return await pool.connect();
    } catch (error) {
      throw storeDown(error);
    }
  };
  return {
    connect: async () => session(await connect(), limits.answerTimeoutMs),
    async run<R>({ name, sql }: NamedStatement, values: readonly unknown[]) {
      const client = await connect();
      let isLost = false;
      try {
        const answer = client.query({ name, text: sql, values: [...values] });
        return (await within(limits.answerTimeoutMs, answer)).rows as readonly R[];
      } catch (error) {
        isLost = isSessionLost(error);
        throw queryFault(error);
      } finally {
        client.release(isLost);
      }
    },
    async end() {
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, GOODBYE_MS);
      await pool.end();
      clearTimeout(cut);
    },
  };
}

function settings(
  connectionString: string,
  limits: PostgresLimits,
  options: readonly string[],
): PoolConfig {
  return {
    connectionString,
    application_name: "gatepost",
    max: limits.connectionsMax,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    statement_timeout: limits.statementTimeoutMs,
    lock_timeout: limits.lockTimeoutMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionTimeoutMs,
    // The adapters need this level, regardless of the server's default.
    options: ["default_transaction_isolation=read\\ committed", ...options]
      .map((option) => `-c ${option}`)
      .join(" "),
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
}

function tracked(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
  return socket;
}

/** One session from the pool. Once it is lost, nothing more is asked of it, and it is not used again. */
function session(client: PoolClient, answerTimeoutMs: number): PostgresPoolClient {
  let isLost = false;
  const ask = async <R>(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<PostgresQueryResult<R>> => {
    const values = parameters.map(withoutNul);
    try {
      const result = await within(answerTimeoutMs, client.query({ text: sql, values }));
      return result as unknown as PostgresQueryResult<R>;
    } catch (error) {
      isLost ||= isSessionLost(error);
      throw queryFault(error);
    }
  };
  const query = async <R>(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<PostgresQueryResult<R>> => {
    if (!isLost) return committed(sql, await ask<R>(sql, parameters));
    // The server undoes what its lost sessions leave open, so this needs no answer; all else does.
    if (sql === "rollback") return { command: "SELECT", rowCount: 0, rows: [] };
    throw storeDown(new Error("the session is lost"));
  };
  return { query: query as PostgresPoolClient["query"], release: () => client.release(isLost) };
}

/** Of a transaction in which a statement failed the server says so only by the name of what it did. */
function committed<R>(sql: string, result: PostgresQueryResult<R>): PostgresQueryResult<R> {
  const { command }: { readonly command: string } = result;
  if (sql !== "commit" || command !== "ROLLBACK") return result;
  throw new Error("commit: a statement of the transaction had failed, and all of it is undone");
}

function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${String(timeoutMs)} ms`)),
      timeoutMs,
    );
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
