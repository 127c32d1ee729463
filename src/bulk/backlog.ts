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

export async function readBacklog(db: Kysely<Database>, nowMs: number): Promise<Backlog> {
  const { rows } = await sql<Record<keyof Backlog, number | null>>`
    select
      jobs.*, chunks.*,
      (select sum(entries_per_second) from bulk_workers
        where seen_at_ms > ${nowMs - SPEED_AGE_MS}) as "entriesPerSecond",
      (select count(*) from webhook_deliveries where state = 'queued') as "queuedWebhooks"
    from
      (select sum(case when state = 'pending' then 1 else 0 end) as "pendingJobs",
        sum(case when state = 'pending' then 0 else 1 end) as "processingJobs",
        ${nowMs} - min(accepted_at_ms) as "oldestJobMs",
        sum(unique_count - processed) as "entries"
      from jobs where is_running = 1) jobs,
      (select sum(case when lease_worker is null or available_at_ms <= ${nowMs} then 1 else 0 end)
          as "waitingChunks",
        sum(case when lease_worker is not null and available_at_ms > ${nowMs} then 1 else 0 end)
          as "leasedChunks"
      from chunks where available_at_ms is not null) chunks`.execute(db);
  const figures = Object.entries(rows[0] ?? {});
  const counts = figures.map(([name, figure]) => [name, Math.max(0, Number(figure))]);
  return Object.fromEntries(counts) as Record<keyof Backlog, number>;
}
