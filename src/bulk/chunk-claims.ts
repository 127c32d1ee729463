import { type Kysely, sql as raw } from "kysely";
import { entriesIn, type Tally } from "../core/batch/tally.ts";
import { type ClaimedChunk, CLAIMS_MAX, type Lease, SILENT_CLAIMS_MAX } from "./chunk-queue.ts";
import { type OwnerKey } from "../base/owner.ts";
import { unpackText } from "../store/packed-text.ts";
import type { Database } from "../store/schema.ts";
import { RUNNING } from "../store/tables/bulk.ts";
import { hasRivals, inTransaction, type Tx } from "../store/transaction.ts";

export interface ChunkQueueDeps {
  readonly db: Kysely<Database>;
}

/**
 * Turns that a chunk of a list costs its owner: 1 for up to 4 chunks, at most 4. So a list of 2,000 entries ends in about
 * the time in which each of the large ones beside it gets one chunk.
 */
const CHUNKS_A_TURN = 4;
const TURNS_MAX = 4;
export const turnsOf = (chunks: number): number =>
  Math.min(TURNS_MAX, Math.ceil(chunks / CHUNKS_A_TURN));

/** `turnsOf` for the row of a job. */
const TURNS = raw`case when chunk_count > ${CHUNKS_A_TURN * (TURNS_MAX - 1)}
  then ${TURNS_MAX} else (chunk_count + ${CHUNKS_A_TURN - 1}) / ${CHUNKS_A_TURN} end`;

/** On the counter of turns, where the chunk begins that was claimed last: `served_turn` is where a job's next one ends. */
const BEGUN_LAST = raw<number>`(select max(served_turn - 2 * ${TURNS}) from jobs where is_running = 1)`;

/** The running job whose owner's turn comes first, among those with a chunk to give. */
const nextJob = ({ nowMs, except }: ClaimTerms, sql: Kysely<Database>) =>
  sql
    .selectFrom("jobs")
    .select(["session", "spam_trap", "owner", "chunk_count", "served_turn", "state"])
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
    .orderBy("chunk_count")
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
  const turns = turnsOf(Number(job.chunk_count));
  const begin = Number(job.served_turn) - turns;
  // A new list begins where the others are, and one that was held back not far behind: waiting saves nothing up, and small
  // lists that follow each other keep no large one waiting.
  const least = job.state === "processing" ? raw`${BEGUN_LAST} - ${TURNS_MAX}` : BEGUN_LAST;
  await tx.sql
    .updateTable("jobs")
    .set({
      state: "processing",
      served_turn: raw<number>`
        case when ${least} > ${begin} then ${least} else ${begin} end + ${2 * turns}`,
    })
    .where("session", "=", session)
    .execute();
  const { owner } = job;
  const spamTrap = job.spam_trap === 1;
  return { chunk, owner, turns, spamTrap };
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
    const { chunk, owner, turns, spamTrap } = claimed;
    const { session, number, entries } = chunk;
    const isSuspect = chunk.claims >= SILENT_CLAIMS_MAX;
    const content = await unpackText(chunk.content);
    const answered = chunk.answered === null ? 0 : entriesIn(JSON.parse(chunk.answered) as Tally);
    return {
      session,
      owner,
      turns,
      number,
      entries,
      token,
      spamTrap,
      isSuspect,
      content,
      answered,
    };
  }
  return undefined;
}
