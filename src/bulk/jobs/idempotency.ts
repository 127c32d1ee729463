import type { Ids } from "../../base/ids.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { deleteRows, putRow } from "../../store/rows.ts";
import { lockName } from "../../store/locks.ts";
import type { Db } from "../../store/schema.ts";
import { inTransaction, type Tx } from "../../store/transaction.ts";
import type { IdempotencyKey } from "./bulk-shapes.ts";

interface RetryClaim extends IdempotencyKey {
  readonly owner: OwnerKey;
  readonly nowMs: number;
  readonly lockMs: number;
}

type RetryOutcome =
  /** First of its kind: answer it, and keep the answer with `token` or call `release`. */
  | { readonly kind: "new"; readonly token: string }
  /** A twin is being answered, or its process died: then the lock ends by itself. */
  | { readonly kind: "in_flight" }
  | { readonly kind: "other_body" }
  | { readonly kind: "kept"; readonly answer: string };

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
  if (row.answer === null) return row.locked_until_ms > nowMs ? row : undefined;
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
    return { kind: "in_flight" };
  }
  const { owner, key, bodyHash, nowMs, lockMs } = claim;
  const row = {
    body_hash: bodyHash,
    token,
    session: null,
    answer: null,
    locked_until_ms: nowMs + lockMs,
  };
  await putRow(tx.sql, "retry_keys", { owner, key }, row);
  return { kind: "new", token };
}

/** Answers kept for repetitions, for as long as their session lives. Rules: `test/contracts/bulk/session-store.ts`. */
export class IdempotencyKeys {
  readonly #db: Db;
  readonly #ids: Ids;

  constructor({ db, ids }: { readonly db: Db; readonly ids: Ids }) {
    this.#db = db;
    this.#ids = ids;
  }

  begin(claim: RetryClaim): Promise<RetryOutcome> {
    return inTransaction(this.#db, (tx) => beginIn(tx, claim, this.#ids.hex32()));
  }

  async release(owner: OwnerKey, key: string, token: string): Promise<void> {
    await deleteRows(this.#db, "retry_keys", { owner, key, token, answer: null });
  }

  async releaseAll(): Promise<void> {
    await deleteRows(this.#db, "retry_keys", { answer: null });
  }
}
