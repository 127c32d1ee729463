import type { Kysely } from "kysely";
import type { Ids } from "../base/ids.ts";
import type { RetryClaim, IdempotencyKeys, RetryOutcome } from "./idempotency-keys.ts";
import type { Database } from "../store/schema.ts";
import { lockName } from "../store/row-locks.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

/** An answer lives as long as its session, a lock until its time is over. */
async function liveRow({ sql }: Tx, { owner, key, nowMs }: RetryClaim) {
  const row = await sql
    .selectFrom("retry_keys")
    .leftJoin("jobs", "jobs.session", "retry_keys.session")
    .select(["body_hash", "answer", "locked_until_ms", "jobs.state", "jobs.expires_at_ms"])
    .where("retry_keys.owner", "=", owner)
    .where("key", "=", key)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.answer === null) return Number(row.locked_until_ms) > nowMs ? row : undefined;
  const isThere = row.state !== null && row.state !== "gone";
  return isThere && Number(row.expires_at_ms ?? Infinity) > nowMs ? row : undefined;
}

async function beginIn(tx: Tx, claim: RetryClaim, token: string): Promise<RetryOutcome> {
  // Of twins the second waits here until the first has its row, which cannot be locked before it is there.
  await lockName(tx, `retry_keys ${claim.owner} ${claim.key}`);
  const known = await liveRow(tx, claim);
  if (known !== undefined) {
    if (known.body_hash !== claim.bodyHash) return { kind: "other_body" };
    if (known.answer !== null) return { kind: "kept", answer: known.answer };
    return { kind: "in_flight", restMs: Number(known.locked_until_ms) - claim.nowMs };
  }
  const { owner, key, bodyHash, nowMs, lockMs } = claim;
  const row = {
    body_hash: bodyHash,
    token,
    session: null,
    answer: null,
    locked_until_ms: nowMs + lockMs,
  };
  await tx.sql
    .insertInto("retry_keys")
    .values({ owner, key, ...row })
    .onConflict((conflict) => conflict.columns(["owner", "key"]).doUpdateSet(row))
    .execute();
  return { kind: "new", token };
}

/** Kept answers on SQLite or PostgreSQL. */
export function sqlIdempotencyKeys({
  db,
  ids,
}: {
  readonly db: Kysely<Database>;
  readonly ids: Ids;
}): IdempotencyKeys {
  return {
    begin: (claim) => inTransaction(db, (tx) => beginIn(tx, claim, ids.hex32())),
    async release(owner, key, token) {
      await db
        .deleteFrom("retry_keys")
        .where("owner", "=", owner)
        .where("key", "=", key)
        .where("token", "=", token)
        .where("answer", "is", null)
        .execute();
    },
    async releaseAll() {
      await db.deleteFrom("retry_keys").where("answer", "is", null).execute();
    },
  };
}
