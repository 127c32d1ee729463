import { type Kysely, sql as raw } from "kysely";
import { entriesIn, type Tally } from "../../../core/batch/tally.ts";
import {
  type ClaimedChunk,
  CLAIMS_MAX,
  type Lease,
  SILENT_CLAIMS_MAX,
} from "../../../ports/bulk/chunk-queue.ts";
import { type OwnerKey, ownerOf } from "../../../ports/admission/owner.ts";
import { unpackText } from "../engine/packed-text.ts";
import type { Database } from "../engine/schema.ts";
import { RUNNING } from "../tables/bulk.ts";
import { hasRivals, inTransaction, type Tx } from "../engine/transaction.ts";

export interface ChunkQueueDeps {
  readonly db: Kysely<Database>;
}

/**
 * Turns that a chunk of a list costs its owner: 1 for up to 4 chunks, at most 4. So a list of 2,000 entries ends in about
 * the time in which each of the large ones beside it gets one chunk.
 */
const CHUNKS_A_TURN = 4;
const TURNS_MAX = 4;
/** Of one that was held back, or is new. With more, small lists that follow each other would keep large ones waiting. */
const CATCH_UP_TURNS = TURNS_MAX / 2;
const turnsOf = (chunks: number): number => Math.min(TURNS_MAX, Math.ceil(chunks / CHUNKS_A_TURN));

/** The running job whose owner's turn comes first, among those with a chunk to give. */
const nextJob = ({ nowMs, except }: ClaimTerms, sql: Kysely<Database>) =>
  sql
    .selectFrom("jobs")
    .select(["session", "spam_trap", "owner", "chunk_count", "served_turn"])
    .where("is_running", "=", RUNNING)
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
 * When all of them are claimed just now, it waits for the first of those claims.
 */
async function lockNextJob(tx: Tx, terms: ClaimTerms) {
  const next = nextJob(terms, tx.sql);
  if (!hasRivals(tx.sql)) return await next.executeTakeFirst();
  const free = await next.forUpdate().skipLocked().executeTakeFirst();
  return free ?? (await next.forUpdate().executeTakeFirst());
}

export interface ClaimTerms extends Lease {
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
  const turn = Number(job.served_turn);
  const turns = turnsOf(Number(job.chunk_count));
  await tx.sql
    .updateTable("jobs")
    .set({
      state: "processing",
      served_turn: raw<number>`(
        select case when max(served_turn) - ${CATCH_UP_TURNS} > ${turn} then max(served_turn) - ${CATCH_UP_TURNS} else ${turn} end + ${turns}
        from jobs where is_running = 1)`,
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

/** A free chunk, as `ChunkQueue` says. */
export async function claim(
  terms: ClaimTerms,
  token: string,
  deps: ChunkQueueDeps,
): Promise<ClaimedChunk | undefined> {
  // Looked at outside a transaction first: workers ask again and again, and there is nothing nearly always.
  if ((await nextJob(terms, deps.db).executeTakeFirst()) === undefined) return undefined;
  for (let tries = 1; tries <= CLAIM_TRIES_MAX; tries += 1) {
    const claimed = await inTransaction(deps.db, (tx) => claimIn(tx, token, terms));
    if (claimed === undefined) return undefined;
    if (claimed === "taken") continue;
    const { chunk, owner, spamTrap, countedFor: account } = claimed;
    const { session, number, entries } = chunk;
    const isSuspect = chunk.claims >= SILENT_CLAIMS_MAX;
    const content = await unpackText(chunk.content);
    const answered = chunk.answered === null ? 0 : entriesIn(JSON.parse(chunk.answered) as Tally);
    const taken = {
      session,
      owner,
      number,
      entries,
      token,
      spamTrap,
      isSuspect,
      content,
      answered,
    };
    return account === undefined ? taken : { ...taken, countedFor: account };
  }
  return undefined;
}
