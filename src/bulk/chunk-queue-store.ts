import { sql as raw } from "kysely";
import type { Tally } from "../core/batch/tally.ts";
import type { ChunkOutcome } from "./batches.ts";
import {
  type ChunkQueue,
  type ClaimedChunk,
  type CompleteOutcome,
  type Held,
  type Lease,
  SILENT_CLAIMS_MAX,
} from "./chunk-queue.ts";
import { SESSION_LIFE_MS } from "./session-store.ts";
import { packLines } from "../store/packed-text.ts";
import { type ChunkRow, RUNNING } from "../store/tables/bulk.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import { type ChunkQueueDeps, claim } from "./chunk-claims.ts";

type At = Parameters<ChunkQueue["complete"]>[2];

/** Marks a chunk as this claim's no more; false when it was not. */
async function letGo(
  { sql }: Tx,
  { session, number, token }: ClaimedChunk,
  become: Partial<Omit<ChunkRow, "session" | "number">>,
): Promise<boolean> {
  const changed = await sql
    .updateTable("chunks")
    .set({ ...become, lease_worker: null, lease_token: null })
    .where("session", "=", session)
    .where("number", "=", number)
    .where("lease_token", "=", token)
    .executeTakeFirst();
  return Number(changed.numUpdatedRows) === 1;
}

/** Counts a chunk in its job; the number of chunks still open, undefined when the job runs no more. */
async function countIn(
  { sql }: Tx,
  session: string,
  { outcome, at }: { readonly outcome: ChunkOutcome; readonly at: At },
): Promise<number | undefined> {
  const { results, tally } = outcome;
  const job = await sql
    .updateTable("jobs")
    .set(({ eb }) => ({
      processed: eb("processed", "+", results.length),
      invalid_format: eb("invalid_format", "+", tally.invalidFormat),
      disposable: eb("disposable", "+", tally.disposable),
      invalid_dns: eb("invalid_dns", "+", tally.invalidDns),
      valid: eb("valid", "+", tally.valid),
      open_chunks: eb("open_chunks", "-", 1),
      ...(at.conclusive ? { dns_down_since_ms: null } : {}),
    }))
    .where("session", "=", session)
    .where("is_running", "=", RUNNING)
    .returning("open_chunks")
    .executeTakeFirst();
  return job === undefined ? undefined : Number(job.open_chunks);
}

async function complete(
  chunk: ClaimedChunk,
  done: { readonly outcome: ChunkOutcome; readonly at: At },
  { db }: ChunkQueueDeps,
): Promise<CompleteOutcome> {
  const { outcome, at } = done;
  const results = await packLines(outcome.results);
  const valid = await packLines(outcome.valid);
  return await inTransaction<CompleteOutcome>(db, async (tx) => {
    // The job before its chunks, as everywhere: in the other order two could wait for each other.
    const open = await countIn(tx, chunk.session, done);
    const become = { results, valid, available_at_ms: null, answered: null };
    if (open === undefined || !(await letGo(tx, chunk, become))) {
      tx.abandon();
      return "late";
    }
    if (open > 0) return "stored";
    await tx.sql
      .updateTable("jobs")
      .set({
        state: "completed",
        is_running: 0,
        announced: 0,
        expires_at_ms: at.nowMs + SESSION_LIFE_MS,
      })
      .where("session", "=", chunk.session)
      .execute();
    return "finished";
  });
}

async function postpone(
  chunk: ClaimedChunk,
  at: Parameters<ChunkQueue["postpone"]>[1],
  { db }: ChunkQueueDeps,
): Promise<"retry" | "accept" | "late"> {
  return await inTransaction(db, async (tx) => {
    const job = await tx.sql
      .updateTable("jobs")
      .set((expression) => ({
        dns_down_since_ms: expression.fn.coalesce("dns_down_since_ms", expression.val(at.nowMs)),
      }))
      .where("session", "=", chunk.session)
      .where("is_running", "=", RUNNING)
      .returning("dns_down_since_ms")
      .executeTakeFirst();
    if (job === undefined) return "late";
    if (at.nowMs - Number(job.dns_down_since_ms) >= at.patienceMs) return "accept";
    // Not 0: its names were asked for, so that a cancelled job does not get them back.
    const mine = await letGo(tx, chunk, { available_at_ms: at.retryAtMs, claims: 1 });
    return mine ? "retry" : "late";
  });
}

async function release(
  { session, number, token }: ClaimedChunk,
  retryAtMs: number,
  { db }: ChunkQueueDeps,
): Promise<void> {
  await db
    .updateTable("chunks")
    .set(({ eb }) => ({
      available_at_ms: retryAtMs,
      lease_worker: null,
      lease_token: null,
      // Below the bound the claim itself was counted.
      claims: eb
        .case()
        .when("claims", ">=", SILENT_CLAIMS_MAX)
        .then(eb("claims", "+", 1))
        .else(eb.ref("claims"))
        .end(),
    }))
    .where("session", "=", session)
    .where("number", "=", number)
    .where("lease_token", "=", token)
    .execute();
}

/** The column for several claims at once; the others keep theirs. */
const answeredBy = (answered: ReadonlyMap<string, Tally>) => {
  const cases = [...answered].map(
    ([token, tally]) => raw`when ${token} then ${JSON.stringify(tally)}`,
  );
  return raw<string | null>`case lease_token ${raw.join(cases, raw` `)} else answered end`;
};

async function renew(
  { worker, nowMs, leaseMs, tokens, answered = new Map() }: Lease & Held,
  speed: number,
  { db }: ChunkQueueDeps,
): Promise<ReadonlySet<string>> {
  return await inTransaction(db, async ({ sql }) => {
    const held = new Set<string>();
    if (tokens.length > 0) {
      const renewed = await sql
        .updateTable("chunks")
        .set({
          available_at_ms: nowMs + leaseMs,
          ...(answered.size > 0 ? { answered: answeredBy(answered) } : {}),
        })
        .where("lease_worker", "=", worker)
        .where("lease_token", "in", tokens)
        .returning("lease_token")
        .execute();
      for (const { lease_token: token } of renewed) if (token !== null) held.add(token);
    }
    const row = { entries_per_second: Math.round(speed), seen_at_ms: nowMs };
    await sql
      .insertInto("bulk_workers")
      .values({ worker, ...row })
      .onConflict((conflict) => conflict.column("worker").doUpdateSet(row))
      .execute();
    return held;
  });
}

async function freeAll(nowMs: number, { db }: ChunkQueueDeps): Promise<void> {
  await db
    .updateTable("chunks")
    .set({ available_at_ms: nowMs, lease_worker: null, lease_token: null })
    .where("lease_token", "is not", null)
    .execute();
}

async function handBack(worker: string, nowMs: number, { db }: ChunkQueueDeps): Promise<void> {
  await inTransaction(db, async ({ sql }) => {
    await sql
      .updateTable("chunks")
      .set(({ eb }) => ({
        available_at_ms: nowMs,
        lease_worker: null,
        lease_token: null,
        claims: eb
          .case()
          .when("claims", ">", 0)
          .then(eb("claims", "-", 1))
          .else(0)
          .end(),
      }))
      .where("lease_worker", "=", worker)
      .execute();
    await sql.deleteFrom("bulk_workers").where("worker", "=", worker).execute();
  });
}

/** Chunks with leases on SQLite or PostgreSQL. */
export function sqlChunkQueue(deps: ChunkQueueDeps): ChunkQueue {
  return {
    claim: (lease, token, except = []) => claim({ ...lease, except }, token, deps),
    renew: (lease, entriesPerSecond) => renew(lease, entriesPerSecond, deps),
    complete: (chunk, outcome, at) => complete(chunk, { outcome, at }, deps),
    postpone: (chunk, at) => postpone(chunk, at, deps),
    release: (chunk, retryAtMs) => release(chunk, retryAtMs, deps),
    freeAll: (nowMs) => freeAll(nowMs, deps),
    handBack: (worker, nowMs) => handBack(worker, nowMs, deps),
  };
}
