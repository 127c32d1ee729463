import type { Kysely, Transaction } from "kysely";
import type { Awaitable } from "../../core/lookup.ts";
import type { Database } from "./schema.ts";

/**
 * One transaction, as the adapters of this folder hand it to each other; ports never show it.
 * Inside it use `sql` only: the embedded database has one connection, so a query on the outer `Kysely`
 * would wait for this very transaction to end. No statement in it may be expected to fail: PostgreSQL
 * gives up the whole transaction on the first error, so ask with `on conflict do nothing` and look at
 * what came back.
 */
export interface Tx {
  readonly sql: Transaction<Database>;
  /** Runs once the transaction is committed, in order, before `inTransaction` returns; must not fail. */
  afterCommit(task: () => Awaitable<void>): void;
  /** Runs once it is certain that nothing of the transaction stays; must not fail. */
  afterRollback(task: () => Awaitable<void>): void;
  /** Nothing of this transaction shall stay; what `work` returns is returned all the same. */
  abandon(): void;
}

/** Carries the result past Kysely, which rolls back on a throw only. */
class Abandoned<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super("abandoned");
    this.result = result;
  }
}

/** Runs `work` in one transaction that holds the write lock from its start (SQLite). */
export async function inTransaction<T>(
  db: Kysely<Database>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const committed: (() => Awaitable<void>)[] = [];
  const rolledBack: (() => Awaitable<void>)[] = [];
  let isAbandoned = false;
  let result: T;
  try {
    result = await db.transaction().execute(async (sql) => {
      const done = await work({
        sql,
        afterCommit: (task) => void committed.push(task),
        afterRollback: (task) => void rolledBack.push(task),
        abandon: () => {
          isAbandoned = true;
        },
      });
      if (isAbandoned) throw new Abandoned(done);
      return done;
    });
  } catch (error) {
    for (const task of rolledBack) await task();
    if (error instanceof Abandoned) return (error as Abandoned<T>).result;
    throw error;
  }
  for (const task of committed) await task();
  return result;
}
