import { setImmediate } from "node:timers/promises";
import { type Kysely, PostgresAdapter, type QueryExecutorProvider, type Transaction } from "kysely";
import { isTryAgain } from "./postgres-fault.ts";
import type { Database } from "./schema.ts";

/**
 * One transaction, as the adapters of this folder hand it to each other; ports never show it.
 * Inside it use `sql` only: the embedded database has one connection, so a query on the outer `Kysely`
 * would wait for this very transaction to end. No statement in it may be expected to fail: PostgreSQL
 * gives up the whole transaction on the first error, so ask with `on conflict do nothing` and look at
 * what came back. There others run beside it, and each statement sees what they committed before it began
 * (READ COMMITTED): lock what a decision rests on before reading it, in the order of locks that
 * docs/decisions/0009-postgresql.md gives.
 */
export interface Tx {
  readonly sql: Transaction<Database>;
  /** Nothing of the transaction stays, and its result is returned as if it had been committed. */
  abandon(): void;
}

/** Carries the result past Kysely, which rolls back on a throw only. */
class Abandoned extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("abandoned");
    this.result = result;
  }
}

/** Deadlocks are between two as a rule, and the second try finds the other one done. */
const TRIES_MAX = 4;

/** `work` runs again after a deadlock, so it may only use `tx`. */
export async function inTransaction<T>(
  db: Kysely<Database>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(async (sql) => {
        let isAbandoned = false;
        const result = await work({ sql, abandon: () => void (isAbandoned = true) });
        if (isAbandoned) throw new Abandoned(result);
        return result;
      });
    } catch (error) {
      if (error instanceof Abandoned) return error.result as T;
      if (tries >= TRIES_MAX || !isTryAgain(error)) throw error;
    }
  }
}

/** Whether other transactions run beside ours; each of SQLite's has the one write lock from its start. */
export const hasRivals = (db: QueryExecutorProvider): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter;

/** One of many transactions of statistics: waiting work gets a turn after it. */
export async function inSlice<T>(db: Kysely<Database>, work: (tx: Tx) => Promise<T>): Promise<T> {
  const result = await inTransaction(db, work);
  await setImmediate();
  return result;
}
