import { setImmediate } from "node:timers/promises";
import {
  type Kysely,
  PostgresAdapter,
  type QueryExecutorProvider,
  sql as raw,
  type Transaction,
} from "kysely";
import type { Awaitable } from "../core/mail/lookup.ts";
import { StoreDown } from "../base/store-down.ts";
import { isTryAgain } from "./postgres-fault.ts";
import type { Database } from "./schema.ts";
import { EmbeddedAdapter } from "./embedded/sqlite.ts";

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
  /** Runs once the transaction is committed, in order, before `inTransaction` returns; must not fail. */
  afterCommit(task: () => Awaitable<void>): void;
  /** Runs once it is certain that nothing of the transaction stays; must not fail. */
  afterRollback(task: () => Awaitable<void>): void;
  /** Runs instead of both when the answer to the commit was lost: it may have happened. Must not fail. */
  afterUnknown(task: () => Awaitable<void>): void;
  abandon(): void;
}

type Task = () => Awaitable<void>;

type Attempt<T> =
  | {
      readonly kind: "committed" | "abandoned";
      readonly result: T;
      readonly tasks: readonly Task[];
    }
  | {
      readonly kind: "failed" | "unknown";
      readonly error: unknown;
      readonly tasks: readonly Task[];
    };

/** Carries the result past Kysely, which rolls back on a throw only. */
class Abandoned extends Error {}

/** Deadlocks are between two as a rule, and the second try finds the other one done. */
const TRIES_MAX = 4;

/**
 * Runs `work` in one transaction, which on SQLite holds the write lock from its start. Where PostgreSQL
 * undoes it to settle a deadlock, `work` runs again from its start, so it may only use `tx`.
 */
export async function inTransaction<T>(
  db: Kysely<Database>,
  work: (tx: Tx) => Promise<T>,
  run: Runner = durably,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const attempt = await attemptOnce(db, work, run);
    const isAgain = attempt.kind === "failed" && tries < TRIES_MAX && isTryAgain(attempt.error);
    if (isAgain) continue;
    for (const task of attempt.tasks) await task();
    if ("error" in attempt) throw attempt.error;
    return attempt.result;
  }
}

/** Whether other transactions run beside ours; SQLite's hold the one write lock from their start. */
export const hasRivals = (db: QueryExecutorProvider): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter;

type Runner = <T>(db: Kysely<Database>, work: (sql: Tx["sql"]) => Promise<T>) => Promise<T>;

const durably: Runner = (db, work) => db.transaction().execute(work);

/** A killed process loses nothing; a machine that fails may lose the last of it, and nothing else. */
export const quickly: Runner = (db, work) =>
  db.transaction().execute(async (sql) => {
    const { adapter } = db.getExecutor();
    if (adapter instanceof EmbeddedAdapter) adapter.hurry();
    else if (hasRivals(db)) await raw`set local synchronous_commit = off`.execute(sql);
    return await work(sql);
  });

async function attemptOnce<T>(
  db: Kysely<Database>,
  work: (tx: Tx) => Promise<T>,
  run: Runner,
): Promise<Attempt<T>> {
  const committed: Task[] = [];
  const rolledBack: Task[] = [];
  const unknown: Task[] = [];
  let isAbandoned = false;
  let done: { readonly result: T } | undefined;
  try {
    const result = await run(db, async (sql) => {
      const made = await work({
        sql,
        afterCommit: (task) => void committed.push(task),
        afterRollback: (task) => void rolledBack.push(task),
        afterUnknown: (task) => void unknown.push(task),
        abandon: () => {
          isAbandoned = true;
        },
      });
      done = { result: made };
      if (isAbandoned) throw new Abandoned();
      return made;
    });
    return { kind: "committed", result, tasks: committed };
  } catch (error) {
    if (done !== undefined && isAbandoned && error instanceof Abandoned) {
      return { kind: "abandoned", result: done.result, tasks: rolledBack };
    }
    // `work` was through, so it was the commit that got no answer.
    const isUnknown = done !== undefined && !isAbandoned && error instanceof StoreDown;
    return isUnknown
      ? { kind: "unknown", error, tasks: unknown }
      : { kind: "failed", error, tasks: rolledBack };
  }
}

/** One of many transactions of statistics: it does not wait for the disk, and waiting work gets a turn after it. */
export async function inSlice<T>(db: Kysely<Database>, work: (tx: Tx) => Promise<T>): Promise<T> {
  const result = await inTransaction(db, work, quickly);
  await setImmediate();
  return result;
}
