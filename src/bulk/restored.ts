import { type Kysely, sql as raw } from "kysely";
import { deleteParts, SESSION_LIFE_MS } from "./batches-store.ts";
import { endEarly } from "./jobs.ts";
import { Charges } from "../accounts/admission/charges.ts";
import { systemIds as ids } from "../base/ids.ts";
import type { Database } from "../store/schema.ts";
import { RUNNING, UNTOLD } from "../store/tables/bulk.ts";
import { hasRivals, inTransaction, type Tx } from "../store/transaction.ts";

export interface EndedByRestore {
  readonly jobs: number;
  readonly webhooks: number;
  readonly signIns: number;
}

async function endJobs(tx: Tx, charges: Charges, nowMs: number): Promise<number> {
  const running = await tx.sql
    .updateTable("jobs")
    .set({ state: "failed", is_running: 0, expires_at_ms: nowMs + SESSION_LIFE_MS })
    .where("is_running", "=", RUNNING)
    .returning(["session", "charge_id", "unique_count", "processed"])
    .execute();
  for (const job of running) {
    await endEarly(tx, job, { charges, nowMs });
    await deleteParts(tx, job.session);
  }
  return running.length;
}

async function endWebhooks({ sql }: Tx): Promise<number> {
  const untold = await sql
    .updateTable("jobs")
    .set({ announced: 1 })
    .where("announced", "=", UNTOLD)
    .executeTakeFirst();
  const queued = await sql
    .updateTable("webhook_deliveries")
    .set({ state: "interrupted" })
    .where("state", "in", ["queued", "sending"])
    .executeTakeFirst();
  return Number(untold.numUpdatedRows) + Number(queued.numUpdatedRows);
}

/**
 * Makes a restored database safe to use, when the service kept running after the back-up: batches under
 * way fail and what was not checked of them is refunded, for their owners may have had the results; webhooks that
 * waited are not sent, because they may have been; every sign-in ends, because its user may have signed out. All of it or
 * nothing. No process may serve the database meanwhile.
 */
export async function endRestored(db: Kysely<Database>, nowMs: number): Promise<EndedByRestore> {
  return await inTransaction(db, async (tx) => {
    const jobs = await endJobs(tx, new Charges({ db, ids }), nowMs);
    const webhooks = await endWebhooks(tx);
    if (hasRivals(tx.sql)) await raw`truncate counters`.execute(tx.sql);
    const signIns = await tx.sql.deleteFrom("login_sessions").executeTakeFirst();
    return { jobs, webhooks, signIns: Number(signIns.numDeletedRows) };
  });
}
