import { sql as raw } from "kysely";
import type {
  Charge,
  ChargeTerms,
  ReservedCharge,
  Unpaid,
} from "../../accounts/admission/charges.ts";
import { ownerKey, ownerOf } from "../../base/owner.ts";
import { entriesIn, sumOfTallies, type Tally } from "../../core/batch/batch-chunk.ts";
import { tellIn } from "../../store/postgres-database.ts";
import { addRow, changeRow, changeRows } from "../../store/rows.ts";
import { freeRows, lockName } from "../../store/locks.ts";
import type { Db } from "../../store/schema.ts";
import { type JobRow, RUNNING, UNTOLD } from "../../store/tables/bulk.ts";
import { hasRivals, inTransaction, type Tx } from "../../store/transaction.ts";
import { CLAIMS_MAX, SILENT_CLAIMS_MAX, CRASHING_LIFE_MS } from "./chunk-queue.ts";
import {
  type BulkStoreDeps,
  type CheckedBatch,
  type CompletedBatch,
  deleteParts,
  insertParts,
  type JobOrder,
  jobRow,
  keepAnswer,
  packBatch,
  type PackedBatch,
  SESSION_LIFE_MS,
} from "./pack-batch.ts";

/** `full` is the buffer. Every outcome except `accepted` leaves no row and no charge. */
export type JobOutcome =
  | { readonly kind: "accepted"; readonly charge: Charge }
  | { readonly kind: "running" }
  | { readonly kind: "cooldown"; readonly untilMs: number }
  | Unpaid
  | { readonly kind: "full" };

export interface QueueAhead {
  readonly openEntries: readonly number[];
  readonly entriesPerSecond: number | undefined;
}

/** A worker that was silent for longer says nothing of today's speed. */
export const SPEED_AGE_MS = 60_000;

const UNANNOUNCED_MAX = 10_000;

export class Jobs {
  readonly #deps: BulkStoreDeps;

  constructor(deps: BulkStoreDeps) {
    this.#deps = deps;
  }

  /** All or nothing. Refuses in this order: a job is running, cooldown, unpaid, full; a checked batch only when it is unpaid. */
  async create(order: JobOrder | CheckedBatch, terms: ChargeTerms): Promise<JobOutcome> {
    const packed = await packBatch(order);
    return await this.#paying(terms, async (tx, reserved) => {
      const made = await createIn(tx, packed, reserved, this.#deps);
      if (made.kind !== "accepted") tx.abandon();
      return made;
    });
  }

  /** What `create` would say of these terms now; nothing is charged, and nothing kept for later. */
  async payable(terms: ChargeTerms): Promise<Unpaid | undefined> {
    const { charges } = this.#deps;
    const reserved = await charges.reserve(terms);
    charges.drop(reserved);
    if (reserved.kind === "unpaid") return reserved;
    if (!("otherwise" in reserved)) return undefined;
    return await this.#paying(terms, async (tx, again) => {
      tx.abandon();
      const charge = await charges.writeIn(tx, again);
      return charge.kind === "unpaid" ? charge : undefined;
    });
  }

  async #paying<T>(
    terms: ChargeTerms,
    work: (tx: Tx, reserved: ReservedCharge | Unpaid) => Promise<T>,
  ): Promise<T> {
    const { db, charges } = this.#deps;
    const reserved = await charges.reserve(terms);
    try {
      return await inTransaction(db, (tx) => work(tx, reserved));
    } finally {
      charges.drop(reserved);
    }
  }

  async queueAhead(nowMs: number): Promise<QueueAhead> {
    const { db } = this.#deps;
    const jobs = await db
      .selectFrom("jobs")
      .select(raw<number>`unique_count - processed`.as("open"))
      .where("is_running", "=", RUNNING)
      .execute();
    const { speed } = await db
      .selectFrom("bulk_workers")
      .select(raw<number | null>`sum(entries_per_second)`.as("speed"))
      .where("seen_at_ms", ">", nowMs - SPEED_AGE_MS)
      .executeTakeFirstOrThrow();
    return {
      openEntries: jobs.map(({ open }) => Number(open)),
      entriesPerSecond: Number(speed) || undefined, // idle workers say 0
    };
  }

  /** Cancels a job, refunding what was not checked, or forgets a finished batch. False when it is not there any more. */
  async remove(session: string, nowMs: number): Promise<boolean> {
    const { db, charges } = this.#deps;
    return await inTransaction(db, async (tx) => {
      // Written before it is read: on PostgreSQL the row is then ours, and no chunk completes in between.
      const job = await tx.sql
        .updateTable("jobs")
        .set({ state: "gone", announced: 1 })
        .where("session", "=", session)
        .where("state", "!=", "gone")
        .returningAll()
        .executeTakeFirst();
      if (job === undefined) return false;
      if (job.is_running === 1) {
        await endEarly(tx, job, { charges, nowMs, asked: await askedEntries(tx, session) });
        const expires_at_ms = nowMs + SESSION_LIFE_MS;
        await changeRows(tx.sql, "jobs", { session }, { is_running: 0, expires_at_ms });
      }
      await deleteParts(tx, session);
      return true;
    });
  }

  /** What is not begun is refunded, what a worker has is finished. False when the job does not run. */
  async stop(session: string, nowMs: number): Promise<boolean> {
    const { db, charges } = this.#deps;
    return await inTransaction(db, async (tx) => {
      const running = { session, is_running: 1 };
      const job = await changeRow(tx.sql, "jobs", running, { state: "stopping" });
      if (job === undefined) return false;
      const closed = await tx.sql
        .updateTable("chunks")
        .set({ available_at_ms: null, lease_worker: null, lease_token: null, answered: null })
        .where("session", "=", session)
        .where("available_at_ms", "is not", null)
        .where(raw<boolean>`(available_at_ms <= ${nowMs} or lease_token is null)`)
        .returning(["entries", "claims"])
        .execute();
      const fresh = closed.filter(({ claims }) => claims === 0);
      const units = fresh.reduce((sum, { entries }) => sum + Number(entries), 0);
      await charges.refundIn(tx, job.charge_id, units, nowMs);
      const open_chunks = job.open_chunks - closed.length;
      const expires_at_ms = nowMs + SESSION_LIFE_MS;
      const ended = { state: "stopped", is_running: 0, expires_at_ms } as const;
      const columns = { open_chunks, ...(open_chunks === 0 && ended) };
      await changeRows(tx.sql, "jobs", { session }, columns);
      return true;
    });
  }

  async failStuck(nowMs: number): Promise<number> {
    const { db, charges } = this.#deps;
    return await inTransaction(db, async (tx) => {
      const stuck = await tx.sql
        .updateTable("jobs")
        .set({ state: "failed", is_running: 0, expires_at_ms: nowMs + SESSION_LIFE_MS })
        .where("is_running", "=", RUNNING)
        .where("session", "in", (query) =>
          query
            .selectFrom("chunks")
            .select("session")
            .where("available_at_ms", "<=", nowMs)
            .where(
              raw<boolean>`(claims >= ${CLAIMS_MAX} or
                claims >= ${SILENT_CLAIMS_MAX} and jobs.accepted_at_ms <= ${nowMs - CRASHING_LIFE_MS})`,
            ),
        )
        .returningAll()
        .execute();
      for (const job of stuck) {
        await endEarly(tx, job, { charges, nowMs });
        // What was checked stays until the session ends, for the list that it belongs to.
        await tx.sql
          .deleteFrom("chunks")
          .where("session", "=", job.session)
          .where("available_at_ms", "is not", null)
          .execute();
      }
      return stuck.length;
    });
  }

  async unannounced(): Promise<readonly string[]> {
    const rows = await this.#deps.db
      .selectFrom("jobs")
      .select("session")
      .where("announced", "=", UNTOLD)
      .orderBy("expires_at_ms")
      .limit(UNANNOUNCED_MAX)
      .execute();
    return rows.map(({ session }) => session);
  }

  /** Marks a batch as announced and lets `write` write what is told of it: both or neither. Nothing when another did, or does. */
  async announce(
    session: string,
    write: (tx: Tx, batch: CompletedBatch) => Promise<void>,
  ): Promise<void> {
    await inTransaction(this.#deps.db, async (tx) => {
      const free = tx.sql
        .selectFrom("jobs")
        .select("session")
        .where("session", "=", session)
        .where("announced", "=", UNTOLD);
      const batch = await tx.sql
        .updateTable("jobs")
        .set({ announced: 1 })
        .where("session", "=", () => freeRows(tx.sql, free))
        .returningAll()
        .executeTakeFirst();
      if (batch === undefined) return;
      const { owner, total, unique_count: unique } = batch;
      await write(tx, { session, owner: ownerOf(owner), total, unique, tally: tallyOf(batch) });
    });
  }
}

async function ownersTurn({ sql }: Tx, order: JobOrder): Promise<JobOutcome | undefined> {
  const last = await sql
    .selectFrom("jobs")
    .select([
      raw<number | null>`max(is_running)`.as("running"),
      raw<number | null>`max(case when origin = 'queued' then accepted_at_ms end)`.as("lastMs"),
    ])
    .where("owner", "=", ownerKey(order.owner))
    .executeTakeFirstOrThrow();
  if (last.running === 1) return { kind: "running" };
  const untilMs = Number(last.lastMs ?? -Infinity) + order.cooldownMs;
  return untilMs > order.nowMs ? { kind: "cooldown", untilMs } : undefined;
}

async function isFull({ sql }: Tx, { unique, bufferMax }: JobOrder): Promise<boolean> {
  const { open } = await sql
    .selectFrom("jobs")
    .select(raw<number>`coalesce(sum(unique_count - processed), 0)`.as("open"))
    .where("is_running", "=", RUNNING)
    .executeTakeFirstOrThrow();
  return Number(open) + unique > bufferMax;
}

async function createIn(
  tx: Tx,
  packed: PackedBatch,
  reserved: ReservedCharge | Unpaid,
  { charges }: BulkStoreDeps,
): Promise<JobOutcome> {
  const { batch } = packed;
  const job = "outcomes" in batch ? undefined : batch;
  if (job !== undefined) {
    await lockName(tx, `jobs ${ownerKey(job.owner)}`);
    const refused = await ownersTurn(tx, job);
    if (refused !== undefined) return refused;
  }
  if (reserved.kind === "unpaid") return reserved;
  const isFullNow = job !== undefined && (await isFull(tx, job));
  if (!isFullNow) await insertParts(tx, packed);
  // Late, because single checks of this owner wait from here to the commit where servers count together.
  const charge = await charges.writeIn(tx, reserved);
  if (charge.kind === "unpaid") return charge;
  if (isFullNow) return { kind: "full" };
  if (job !== undefined && hasRivals(tx.sql)) {
    // Only now, as all owners wait for each other from here to the commit.
    await lockName(tx, "jobs buffer");
    if (await isFull(tx, job)) return { kind: "full" };
  }
  if (!(await addRow(tx.sql, "jobs", jobRow(packed, charge.id)))) return { kind: "running" };
  await keepAnswer(tx, batch);
  if (job !== undefined) await tellIn(tx, "jobs");
  return { kind: "accepted", charge };
}

/** Entries of chunks that a worker has started or returned, and not finished: DNS was asked for them. */
async function askedEntries({ sql }: Tx, session: string): Promise<number> {
  const { asked } = await sql
    .selectFrom("chunks")
    .select(raw<number | null>`sum(entries)`.as("asked"))
    .where("session", "=", session)
    .where("available_at_ms", "is not", null)
    .where("claims", ">", 0)
    .executeTakeFirstOrThrow();
  return Number(asked ?? 0);
}

/** Pays back what was not checked. What its open chunks added to its progress stays, because progress never falls. */
export async function endEarly(
  tx: Tx,
  job: Pick<JobRow, "session" | "charge_id" | "unique_count" | "processed">,
  { charges, nowMs, asked = 0 }: EndTerms,
): Promise<void> {
  await charges.refundIn(tx, job.charge_id, job.unique_count - job.processed - asked, nowMs);
  const unfinished = await tx.sql
    .selectFrom("chunks")
    .select("answered")
    .where("session", "=", job.session)
    .where("answered", "is not", null)
    .execute();
  const shown = entriesIn(answeredIn(unfinished));
  if (shown === 0) return;
  const { session } = job;
  await changeRows(tx.sql, "jobs", { session }, { processed: raw`processed + ${shown}` });
}

export const answeredIn = (chunks: readonly { readonly answered: string | null }[]): Tally =>
  sumOfTallies(
    chunks.flatMap(({ answered }) => (answered === null ? [] : (JSON.parse(answered) as Tally))),
  );

interface EndTerms {
  readonly charges: Pick<BulkStoreDeps["charges"], "refundIn">;
  readonly nowMs: number;
  readonly asked?: number;
}

export const tallyOf = (row: JobRow): CompletedBatch["tally"] => ({
  invalidFormat: row.invalid_format,
  disposable: row.disposable,
  invalidDns: row.invalid_dns,
  valid: row.valid,
});

export interface Backlog {
  readonly pendingJobs: number;
  readonly processingJobs: number;
  readonly oldestJobMs: number;
  readonly entries: number;
  readonly waitingChunks: number;
  readonly leasedChunks: number;
  readonly entriesPerSecond: number;
  readonly queuedWebhooks: number;
}

export async function readBacklog(db: Db, nowMs: number): Promise<Backlog> {
  const { rows } = await raw<Record<keyof Backlog, number | null>>`
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
