import { sql as raw } from "kysely";
import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import { Charges } from "../../accounts/admission/charges.ts";
import { systemIds as ids } from "../../base/ids.ts";
import { changeRows, deleteRows, findRow } from "../../store/rows.ts";
import type { Db } from "../../store/schema.ts";
import { RUNNING, UNTOLD } from "../../store/tables/bulk.ts";
import { hasRivals, inTransaction, type Tx } from "../../store/transaction.ts";
import { deleteParts, SESSION_LIFE_MS } from "./pack-batch.ts";
import { endEarly, type Jobs, SPEED_AGE_MS } from "./jobs.ts";
import { keptByLists, pruneLists } from "../lists/list-store.ts";

/** The longest time that a stuck job stays after its last worker, and a session on disk after its end. */
const KEEP_HOUSE_EVERY_MS = 5_000;

interface House {
  readonly clock: Clock;
  readonly log: Log;
}

function repeat(task: () => Promise<void>, { clock, log }: House): End {
  const failed = (fault: unknown): void => log.error("bulk.housekeeping_failed", fault);
  return every({ ms: KEEP_HOUSE_EVERY_MS, firstMs: 0, clock, failed }, task);
}

export function keepJobs(deps: House & { readonly jobs: Pick<Jobs, "failStuck"> }): End {
  const { jobs, clock, log } = deps;
  return repeat(async () => {
    const failed = await jobs.failStuck(clock.nowMs());
    if (failed > 0) log.warn("bulk.jobs_failed", { failed });
  }, deps);
}

const SCRUB_EVERY_MS = 60_000;

export function keepSessions(
  deps: House & { readonly db: Db; readonly scrub: () => Promise<void> },
): End {
  const { db, scrub, clock } = deps;
  let isScrubDue = false;
  let scrubbedMs = -Infinity;
  return repeat(async () => {
    if ((await pruneSessions(db, clock.nowMs())) > 0) isScrubDue = true;
    if (!isScrubDue || clock.monotonicMs() - scrubbedMs < SCRUB_EVERY_MS) return;
    isScrubDue = false;
    scrubbedMs = clock.monotonicMs();
    await scrub();
  }, deps);
}

const PRUNE_ROWS_MAX = 25;

/** Deletes a session's parts, then the session, unless it is still to be announced. It is invisible all the while. */
async function pruneSession(db: Db, session: string): Promise<void> {
  for (const name of ["chunks", "table_pages"]) {
    const table = raw.table(name);
    const slice = raw`delete from ${table} where session = ${session} and number in (
      select number from ${table} where session = ${session} limit ${PRUNE_ROWS_MAX})`;
    while ((await slice.execute(db)).numAffectedRows === BigInt(PRUNE_ROWS_MAX));
  }
  await inTransaction(db, async ({ sql }) => {
    await deleteRows(sql, "retry_keys", { session });
    await deleteRows(sql, "jobs", { session, announced: 1 });
  });
}

async function pruneLeftovers(db: Db, nowMs: number): Promise<void> {
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

export async function pruneSessions(db: Db, nowMs: number): Promise<number> {
  await pruneLeftovers(db, nowMs);
  const lists = await pruneLists(db, nowMs);
  const expired = await db
    .selectFrom("jobs")
    .select("session")
    .where("expires_at_ms", "<=", nowMs)
    .execute();
  const kept = await keptByLists(
    db,
    expired.map(({ session }) => session),
  );
  let pruned = 0;
  for (const { session } of expired) {
    const expires_at_ms = kept.get(session) ?? 0;
    if (expires_at_ms > nowMs) await changeRows(db, "jobs", { session }, { expires_at_ms });
    else {
      await pruneSession(db, session);
      pruned += 1;
    }
  }
  return pruned + lists;
}

export async function holdsSessions(db: Db): Promise<boolean> {
  for (const table of ["jobs", "retry_keys", "account_lists"] as const) {
    if ((await findRow(db, table, {})) !== undefined) return true;
  }
  return false;
}

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
export async function endRestored(db: Db, nowMs: number): Promise<EndedByRestore> {
  return await inTransaction(db, async (tx) => {
    const jobs = await endJobs(tx, new Charges({ db, ids }), nowMs);
    const webhooks = await endWebhooks(tx);
    if (hasRivals(tx.sql)) await raw`truncate counters`.execute(tx.sql);
    const signIns = await tx.sql.deleteFrom("login_sessions").executeTakeFirst();
    return { jobs, webhooks, signIns: Number(signIns.numDeletedRows) };
  });
}
