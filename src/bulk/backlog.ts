import { type Kysely, sql as raw } from "kysely";
import { SPEED_AGE_MS } from "./jobs.ts";
import type { Database } from "../store/schema.ts";
import { RUNNING } from "../store/tables/bulk.ts";

/** What waits in the database, of all processes that share it. */
export interface Backlog {
  readonly pendingJobs: number;
  readonly processingJobs: number;
  readonly oldestJobMs: number;
  readonly entries: number;
  /** Chunks without a worker, or whose worker let its lease end. */
  readonly waitingChunks: number;
  readonly leasedChunks: number;
  readonly entriesPerSecond: number;
  readonly queuedWebhooks: number;
}

type Count = number | null;

export async function readBacklog(db: Kysely<Database>, nowMs: number): Promise<Backlog> {
  const jobs = await db
    .selectFrom("jobs")
    .select([
      raw<Count>`sum(case when state = 'pending' then 1 else 0 end)`.as("pending"),
      raw<Count>`sum(case when state = 'pending' then 0 else 1 end)`.as("processing"),
      raw<Count>`min(accepted_at_ms)`.as("oldest"),
      raw<Count>`sum(unique_count - processed)`.as("entries"),
    ])
    .where("is_running", "=", RUNNING)
    .executeTakeFirstOrThrow();
  const chunks = await db
    .selectFrom("chunks")
    .select(({ fn }) => [
      fn.countAll().as("open"),
      raw<Count>`sum(case when lease_worker is not null and available_at_ms > ${nowMs} then 1 else 0 end)`.as(
        "leased",
      ),
    ])
    .where("available_at_ms", "is not", null)
    .executeTakeFirstOrThrow();
  const workers = await db
    .selectFrom("bulk_workers")
    .select(raw<Count>`sum(entries_per_second)`.as("speed"))
    .where("seen_at_ms", ">", nowMs - SPEED_AGE_MS)
    .executeTakeFirstOrThrow();
  const webhooks = await db
    .selectFrom("webhook_deliveries")
    .select(raw<Count>`count(*)`.as("queued"))
    .where("state", "=", "queued")
    .executeTakeFirstOrThrow();
  return {
    pendingJobs: Number(jobs.pending),
    processingJobs: Number(jobs.processing),
    oldestJobMs: jobs.oldest === null ? 0 : Math.max(0, nowMs - Number(jobs.oldest)),
    entries: Number(jobs.entries),
    waitingChunks: Number(chunks.open) - Number(chunks.leased),
    leasedChunks: Number(chunks.leased),
    entriesPerSecond: Number(workers.speed),
    queuedWebhooks: Number(webhooks.queued),
  };
}
