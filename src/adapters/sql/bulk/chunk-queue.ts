import { type Kysely, sql as raw } from "kysely";
import type { ChunkOutcome } from "../../../ports/bulk/batches.ts";
import type { Checkpoint } from "../../../ports/bulk/checkpoint.ts";
import {
  type ChunkQueue,
  type ClaimedChunk,
  CLAIMS_MAX,
  type CompleteOutcome,
  type Held,
  type Lease,
  SILENT_CLAIMS_MAX,
} from "../../../ports/bulk/chunk-queue.ts";
import { type OwnerKey, ownerOf } from "../../../ports/admission/owner.ts";
import { SESSION_LIFE_MS } from "../../../ports/bulk/session-store.ts";
import { packLines, unpackText } from "../engine/packed-text.ts";
import type { Database } from "../engine/schema.ts";
import type { ChunkRow } from "../tables/bulk.ts";
import { hasRivals, inTransaction, type Tx } from "../engine/transaction.ts";

export interface ChunkQueueDeps {
  readonly db: Kysely<Database>;
  readonly checkpoint: Checkpoint;
}

type At = Parameters<ChunkQueue["complete"]>[2];

/** The running job whose owner waited longest, among those with a chunk to give. */
const nextJob = ({ sql }: Tx, { nowMs, except }: ClaimTerms) =>
  sql
    .selectFrom("jobs")
    .select(["session", "spam_trap", "owner"])
    .where("is_running", "=", 1)
    .$if(except.length > 0, (query) => query.where("owner", "not in", except))
    .where((expression) =>
      expression.exists(
        expression
          .selectFrom("chunks")
          .select("number")
          .whereRef("chunks.session", "=", "jobs.session")
          .where("available_at_ms", "<=", nowMs)
          .where("claims", "<", CLAIMS_MAX),
      ),
    )
    .orderBy("served_turn")
    .orderBy("accepted_at_ms")
    .limit(1);

/**
 * The next job, locked. Past those that another claim has just now: their owners are having their turn.
 * When there are no others, behind that claim.
 */
async function lockNextJob(tx: Tx, terms: ClaimTerms) {
  const next = nextJob(tx, terms);
  if (!hasRivals(tx.sql)) return await next.executeTakeFirst();
  const free = await next.forUpdate().skipLocked().executeTakeFirst();
  return free ?? (await next.forUpdate().executeTakeFirst());
}

interface ClaimTerms extends Lease {
  readonly except: readonly OwnerKey[];
}

async function claimIn(tx: Tx, token: string, terms: ClaimTerms) {
  const { worker, nowMs, leaseMs } = terms;
  const job = await lockNextJob(tx, terms);
  if (job === undefined) return undefined;
  const { session } = job;
  const chunk = await tx.sql
    .updateTable("chunks")
    .set(({ eb }) => ({
      lease_worker: worker,
      lease_token: token,
      available_at_ms: nowMs + leaseMs,
      claims: eb
        .case()
        .when("claims", "<", SILENT_CLAIMS_MAX)
        .then(eb("claims", "+", 1))
        .else(eb.ref("claims"))
        .end(),
    }))
    .where("session", "=", session)
    .where("number", "=", (query) =>
      query
        .selectFrom("chunks")
        .select(({ fn }) => fn.min("number").as("number"))
        .where("session", "=", session)
        .where("available_at_ms", "<=", nowMs)
        .where("claims", "<", CLAIMS_MAX),
    )
    .where("available_at_ms", "<=", nowMs)
    .returningAll()
    .executeTakeFirst();
  if (chunk === undefined) return "taken";
  await tx.sql
    .updateTable("jobs")
    .set({
      state: "processing",
      served_turn: raw<number>`(select max(served_turn) + 1 from jobs where is_running = 1)`,
    })
    .where("session", "=", session)
    .execute();
  const { owner } = job;
  return { chunk, owner, spamTrap: job.spam_trap === 1, countedFor: await countedFor(tx, owner) };
}

/** The account behind an owner key, when it has its traffic counted. */
async function countedFor({ sql }: Tx, key: string): Promise<string | undefined> {
  const owner = ownerOf(key);
  if (owner.kind !== "account") return undefined;
  const account = await sql
    .selectFrom("accounts")
    .select("spellings")
    .where("id", "=", owner.accountId)
    .executeTakeFirst();
  return account?.spellings === 1 ? owner.accountId : undefined;
}

/** Claims of others that end a job's chunks while ours waits for the job; then the look-round finds what is left. */
const CLAIM_TRIES_MAX = 8;

async function claim(
  terms: ClaimTerms,
  token: string,
  deps: ChunkQueueDeps,
): Promise<ClaimedChunk | undefined> {
  for (let tries = 1; tries <= CLAIM_TRIES_MAX; tries += 1) {
    const claimed = await inTransaction(deps.db, (tx) => claimIn(tx, token, terms));
    if (claimed === undefined) return undefined;
    if (claimed === "taken") continue;
    deps.checkpoint("claimed");
    const { chunk, owner, spamTrap, countedFor: account } = claimed;
    const { session, number, entries } = chunk;
    const isSuspect = chunk.claims >= SILENT_CLAIMS_MAX;
    const content = await unpackText(chunk.content);
    const taken = { session, owner, number, entries, token, spamTrap, isSuspect, content };
    return account === undefined ? taken : { ...taken, countedFor: account };
  }
  return undefined;
}

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
    .where("is_running", "=", 1)
    .returning("open_chunks")
    .executeTakeFirst();
  return job === undefined ? undefined : Number(job.open_chunks);
}

async function complete(
  chunk: ClaimedChunk,
  done: { readonly outcome: ChunkOutcome; readonly at: At },
  { db, checkpoint }: ChunkQueueDeps,
): Promise<CompleteOutcome> {
  const { outcome, at } = done;
  const results = await packLines(outcome.results);
  const valid = await packLines(outcome.valid);
  checkpoint("before_result");
  const stored = await inTransaction<CompleteOutcome>(db, async (tx) => {
    // The job before its chunks, as everywhere: in the other order two could wait for each other.
    const open = await countIn(tx, chunk.session, done);
    const become = { results, valid, available_at_ms: null };
    if (open === undefined || !(await letGo(tx, chunk, become))) {
      tx.abandon();
      return "late";
    }
    checkpoint("result_counted");
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
  checkpoint(stored === "finished" ? "completed" : "after_result");
  return stored;
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
      .where("is_running", "=", 1)
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

async function renew(
  { worker, nowMs, leaseMs, tokens }: Lease & Held,
  speed: number,
  { db }: ChunkQueueDeps,
): Promise<void> {
  await inTransaction(db, async ({ sql }) => {
    if (tokens.length > 0) {
      await sql
        .updateTable("chunks")
        .set({ available_at_ms: nowMs + leaseMs })
        .where("lease_worker", "=", worker)
        .where("lease_token", "in", tokens)
        .execute();
    }
    const row = { entries_per_second: Math.round(speed), seen_at_ms: nowMs };
    await sql
      .insertInto("bulk_workers")
      .values({ worker, ...row })
      .onConflict((conflict) => conflict.column("worker").doUpdateSet(row))
      .execute();
  });
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
    handBack: (worker, nowMs) => handBack(worker, nowMs, deps),
  };
}
