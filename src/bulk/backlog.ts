import { type Kysely, sql } from "kysely";
import { SPEED_AGE_MS } from "./jobs.ts";
import type { Database } from "../store/schema.ts";

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

interface Row {
  readonly pending: number;
  readonly processing: number;
  readonly oldest: number | null;
  readonly entries: number;
  readonly open: number;
  readonly leased: number;
  readonly speed: number;
  readonly webhooks: number;
}

export async function readBacklog(db: Kysely<Database>, nowMs: number): Promise<Backlog> {
  const { rows } = await sql<Row>`
    select
      jobs.*, chunks.*,
      (select sum(entries_per_second) from bulk_workers where seen_at_ms > ${nowMs - SPEED_AGE_MS}) as speed,
      (select count(*) from webhook_deliveries where state = 'queued') as webhooks
    from
      (select sum(case when state = 'pending' then 1 else 0 end) as pending,
        sum(case when state = 'pending' then 0 else 1 end) as processing,
        min(accepted_at_ms) as oldest, sum(unique_count - processed) as entries
      from jobs where is_running = 1) jobs,
      (select count(*) as open,
        sum(case when lease_worker is not null and available_at_ms > ${nowMs} then 1 else 0 end) as leased
      from chunks where available_at_ms is not null) chunks`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("backlog: no row");
  return {
    pendingJobs: Number(row.pending),
    processingJobs: Number(row.processing),
    oldestJobMs: row.oldest === null ? 0 : Math.max(0, nowMs - Number(row.oldest)),
    entries: Number(row.entries),
    waitingChunks: Number(row.open) - Number(row.leased),
    leasedChunks: Number(row.leased),
    entriesPerSecond: Number(row.speed),
    queuedWebhooks: Number(row.webhooks),
  };
}
