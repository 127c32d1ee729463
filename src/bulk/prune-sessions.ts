import type { Kysely } from "kysely";
import { SPEED_AGE_MS } from "./jobs-store.ts";
import type { Database } from "../store/schema.ts";
import { inTransaction } from "../store/transaction.ts";

/** Rows deleted in one transaction: other writers wait for its end. */
const PRUNE_ROWS_MAX = 25;

/** Deletes a session's parts a few at a time, then the session. It is invisible all the while. */
async function pruneSession(db: Kysely<Database>, session: string): Promise<void> {
  for (const table of ["chunks", "table_pages"] as const) {
    let gone = PRUNE_ROWS_MAX;
    while (gone === PRUNE_ROWS_MAX) {
      const { numDeletedRows } = await db
        .deleteFrom(table)
        .where("session", "=", session)
        .where("number", "in", (query) =>
          query
            .selectFrom(table)
            .select("number")
            .where("session", "=", session)
            .limit(PRUNE_ROWS_MAX),
        )
        .executeTakeFirstOrThrow();
      gone = Number(numDeletedRows);
    }
  }
  await inTransaction(db, async ({ sql }) => {
    await sql.deleteFrom("retry_keys").where("session", "=", session).execute();
    await sql.deleteFrom("jobs").where("session", "=", session).execute();
  });
}

/** What requests and workers left behind that died. */
async function pruneLeftovers(db: Kysely<Database>, nowMs: number): Promise<void> {
  await db
    .deleteFrom("retry_keys")
    .where("answer", "is", null)
    .where("locked_until_ms", "<=", nowMs)
    .execute();
  await db
    .deleteFrom("bulk_workers")
    .where("seen_at_ms", "<=", nowMs - SPEED_AGE_MS)
    .execute();
}

/** See `SessionStore.prune`. Needs only the database, so that a worker can do it. */
export async function pruneSessions(db: Kysely<Database>, nowMs: number): Promise<number> {
  await pruneLeftovers(db, nowMs);
  const expired = await db
    .selectFrom("jobs")
    .select("session")
    .where("expires_at_ms", "<=", nowMs)
    .execute();
  for (const { session } of expired) await pruneSession(db, session);
  return expired.length;
}

/** Whether there is anything that `pruneSessions` or a worker will have to see to. */
export async function holdsSessions(db: Kysely<Database>): Promise<boolean> {
  const job = await db.selectFrom("jobs").select("session").limit(1).executeTakeFirst();
  const key = await db.selectFrom("retry_keys").select("key").limit(1).executeTakeFirst();
  return job !== undefined || key !== undefined;
}
