import { type SelectQueryBuilder, sql } from "kysely";
import type { Database, Db } from "./schema.ts";
import { hasRivals, type Tx } from "./transaction.ts";

/** Makes everybody who locks the same name wait until this transaction ends. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  if (!hasRivals(tx.sql)) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.sql);
}

export function freeRows<T extends keyof Database, O>(
  db: Db,
  query: SelectQueryBuilder<Database, T, O>,
): SelectQueryBuilder<Database, T, O> {
  return hasRivals(db) ? query.forUpdate().skipLocked() : query;
}

export async function lockAccount({ sql: db }: Tx, accountId: string): Promise<void> {
  if (!hasRivals(db)) return;
  await db.selectFrom("accounts").select("id").where("id", "=", accountId).forUpdate().execute();
}
