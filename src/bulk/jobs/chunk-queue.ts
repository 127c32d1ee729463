import { sql as raw } from "kysely";
import type { OwnerKey } from "../../base/owner.ts";
import { entriesIn, type Tally } from "../../core/batch/batch-chunk.ts";
import { changeRow, changeRows, deleteRows, putRow } from "../../store/rows.ts";
import { lockName } from "../../store/locks.ts";
import { packLines, unpackText } from "../../store/pack.ts";
import type { Db } from "../../store/schema.ts";
import { RUNNING } from "../../store/tables/bulk.ts";
import { hasRivals, inTransaction, type Tx } from "../../store/transaction.ts";
import {
  type ChunkOutcome,
  CHUNKS_AT_ONCE,
  SESSION_LIFE_MS,
  TURNS_MAX,
  turnsOf,
} from "./pack-batch.ts";

export interface Lease {
  readonly worker: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

interface ClaimedTokens {
  readonly tokens: readonly string[];
  readonly answered?: ReadonlyMap<string, Tally>;
}

export interface ClaimedChunk {
  readonly session: string;
  readonly number: number;
  readonly token: string;
  readonly owner: OwnerKey;
  /** What the claim cost its owner: 1 for a chunk of a list of up to 2,000 entries, more for one of a longer list, at most 4. */
  readonly turns: number;
  readonly entries: number;
  readonly content: string;
  readonly spamTrap: boolean;
  /** Entries that sessions show as processed already, because a worker before this one answered them. */
  readonly answered: number;
  /** Workers that had it fell silent again and again: it is to be checked where it can do no harm. */
  readonly mayCrash: boolean;
}

/** `finished`: it was the last chunk of its job. `late`: the chunk or the job is another's by now, and nothing was stored. */
export type CompleteOutcome = "stored" | "finished" | "late";

/** So many claims that ended in silence make a chunk one that may crash its worker: workers are killed from outside, too. */
export const SILENT_CLAIMS_MAX = 5;

/** Claims after which a chunk takes its job with it; beyond `SILENT_CLAIMS_MAX` only `release` counts. */
export const CLAIMS_MAX = 10;

/** A job with an unclaimed chunk of this kind this long after its acceptance fails: the chunk must not end workers without limit. */
export const CRASHING_LIFE_MS = 3_600_000;

export class ChunkQueue {
  readonly #db: Db;

  constructor({ db }: { readonly db: Db }) {
    this.#db = db;
  }

  /** A free chunk of the owner who waited longest, none of those in `except`. `token` was never used before. */
  async claim(
    lease: Lease,
    token: string,
    except: readonly OwnerKey[] = [],
  ): Promise<ClaimedChunk | undefined> {
    const terms = { ...lease, except };
    // Looked at outside a transaction first: workers ask again and again, and there is nothing nearly always.
    if ((await nextJob(terms, this.#db).executeTakeFirst()) === undefined) return undefined;
    const claimed = await inTransaction(this.#db, (tx) => claimIn(tx, token, terms));
    if (claimed === undefined) return undefined;
    const { chunk, job } = claimed;
    const { session, number, entries, claims, answered } = chunk;
    return {
      session,
      owner: job.owner,
      turns: turnsOf(job.chunk_count),
      number,
      entries,
      token,
      spamTrap: job.spam_trap === 1,
      mayCrash: claims >= SILENT_CLAIMS_MAX,
      content: await unpackText(chunk.content),
      answered: answered === null ? 0 : entriesIn(JSON.parse(answered) as Tally),
    };
  }

  /** Prolongs the leases that are still this worker's and returns their tokens; notes its speed and progress. */
  async renew(
    { worker, nowMs, leaseMs, tokens, answered = new Map() }: Lease & ClaimedTokens,
    entriesPerSecond: number,
  ): Promise<ReadonlySet<string>> {
    return await inTransaction(this.#db, async ({ sql }) => {
      const leased = new Set<string>();
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
        for (const { lease_token: token } of renewed) if (token !== null) leased.add(token);
      }
      const row = { entries_per_second: Math.round(entriesPerSecond), seen_at_ms: nowMs };
      await putRow(sql, "bulk_workers", { worker }, row);
      return leased;
    });
  }

  async complete(chunk: ClaimedChunk, outcome: ChunkOutcome, at: At): Promise<CompleteOutcome> {
    const results = await packLines(outcome.results);
    const valid = await packLines(outcome.valid);
    return await inTransaction<CompleteOutcome>(this.#db, async (tx) => {
      // The job before its chunks, as everywhere: in the other order two could wait for each other.
      const open = await countIn(tx, chunk.session, { outcome, at });
      const become = { results, valid, available_at_ms: null, answered: null };
      if (open === undefined || !(await letGo(tx.sql, chunk, become))) {
        tx.abandon();
        return "late";
      }
      if (open > 0) return "stored";
      await endJobIn(tx, chunk.session, at.nowMs);
      return "finished";
    });
  }

  /** Puts a wholly inconclusive chunk back (`retry`), unless its job has waited `dnsWaitMaxMs` for DNS (`accept`). */
  async postpone(
    chunk: ClaimedChunk,
    at: { readonly nowMs: number; readonly retryAtMs: number; readonly dnsWaitMaxMs: number },
  ): Promise<"retry" | "accept" | "late"> {
    return await inTransaction(this.#db, async (tx) => {
      const running = { session: chunk.session, is_running: 1 };
      const since = { dns_down_since_ms: raw`coalesce(dns_down_since_ms, ${at.nowMs})` };
      const job = await changeRow(tx.sql, "jobs", running, since);
      if (job === undefined) return "late";
      if (at.nowMs - (job.dns_down_since_ms ?? at.nowMs) >= at.dnsWaitMaxMs) return "accept";
      // Not 0: its names were asked for, so that a cancelled job does not get them back.
      const mine = await letGo(tx.sql, chunk, { available_at_ms: at.retryAtMs, claims: 1 });
      return mine ? "retry" : "late";
    });
  }

  /** Puts a chunk back after a fault, which counts against its job; below the bound the claim itself was counted. */
  async release(chunk: ClaimedChunk, retryAtMs: number): Promise<void> {
    await letGo(this.#db, chunk, {
      available_at_ms: retryAtMs,
      claims: raw`case when claims >= ${SILENT_CLAIMS_MAX} then claims + 1 else claims end`,
    });
  }

  /** Ends every lease, for a process that has the database alone: who had them is gone. */
  async freeAll(nowMs: number): Promise<void> {
    await this.#db
      .updateTable("chunks")
      .set({ available_at_ms: nowMs, lease_worker: null, lease_token: null })
      .where("lease_token", "is not", null)
      .execute();
  }

  async handBack(worker: string, nowMs: number): Promise<void> {
    await inTransaction(this.#db, async ({ sql }) => {
      const claims = raw`case when claims > 0 then claims - 1 else 0 end`;
      const free = { available_at_ms: nowMs, lease_worker: null, lease_token: null, claims };
      await changeRows(sql, "chunks", { lease_worker: worker }, free);
      await deleteRows(sql, "bulk_workers", { worker });
    });
  }
}

export async function endJobIn({ sql }: Tx, session: string, nowMs: number): Promise<void> {
  const ended = {
    state: raw`case when state = 'stopping' then 'stopped' else 'completed' end`,
    is_running: 0,
    announced: raw`case when state = 'stopping' then 1 else 0 end`,
    expires_at_ms: nowMs + SESSION_LIFE_MS,
  };
  await changeRows(sql, "jobs", { session }, ended);
}

interface At {
  readonly nowMs: number;
  readonly conclusive: boolean;
}

const TURNS = raw`case when chunk_count > ${CHUNKS_AT_ONCE * (TURNS_MAX - 1)}
  then ${TURNS_MAX} else (chunk_count + ${CHUNKS_AT_ONCE - 1}) / ${CHUNKS_AT_ONCE} end`;

/** Virtual time at which the last claimed chunk started: `served_turn` is where a job's next one ends. */
const BEGUN_LAST = raw<number>`(select max(served_turn - 2 * ${TURNS}) from jobs where is_running = 1)`;

interface ClaimTerms extends Lease {
  readonly except: readonly OwnerKey[];
}

const nextJob = ({ nowMs, except }: ClaimTerms, sql: Db) =>
  sql
    .selectFrom("jobs")
    .select(["session", "spam_trap", "owner", "chunk_count", "served_turn", "state"])
    .where("is_running", "=", RUNNING)
    .$if(except.length > 0, (query) => query.where("owner", "not in", except))
    .where((query) =>
      query.exists(
        query
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

async function claimIn(tx: Tx, token: string, terms: ClaimTerms) {
  const { worker, nowMs, leaseMs } = terms;
  await lockName(tx, "claims"); // two that claim at once would both find the same chunk
  const next = nextJob(terms, tx.sql);
  // None, too, when this one ended meanwhile: the next look finds another.
  const job = await (hasRivals(tx.sql) ? next.forUpdate() : next).executeTakeFirst();
  if (job === undefined) return undefined;
  const { session } = job;
  const chunk = await tx.sql
    .updateTable("chunks")
    .set({
      lease_worker: worker,
      lease_token: token,
      available_at_ms: nowMs + leaseMs,
      claims: raw`case when claims < ${SILENT_CLAIMS_MAX} then claims + 1 else claims end`,
    })
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
  if (chunk === undefined) return undefined;
  const turns = turnsOf(job.chunk_count);
  const begin = job.served_turn - turns;
  // A new list begins where the others are, and one that was held back not far behind: waiting saves nothing up, and small
  // lists that follow each other keep no large one waiting.
  const least = job.state === "processing" ? raw`${BEGUN_LAST} - ${TURNS_MAX}` : BEGUN_LAST;
  await changeRows(
    tx.sql,
    "jobs",
    { session },
    {
      state: raw`case when state = 'stopping' then state else 'processing' end`,
      served_turn: raw`case when ${least} > ${begin} then ${least} else ${begin} end + ${2 * turns}`,
    },
  );
  return { chunk, job };
}

async function letGo(
  db: Db,
  { session, number, token }: ClaimedChunk,
  become: Parameters<typeof changeRows<"chunks">>[3],
): Promise<boolean> {
  const columns = { ...become, lease_worker: null, lease_token: null };
  return (await changeRows(db, "chunks", { session, number, lease_token: token }, columns)) === 1;
}

async function countIn(
  { sql }: Tx,
  session: string,
  { outcome, at }: { readonly outcome: ChunkOutcome; readonly at: At },
): Promise<number | undefined> {
  const { results, tally } = outcome;
  const job = await changeRow(
    sql,
    "jobs",
    { session, is_running: 1 },
    {
      processed: raw`processed + ${results.length}`,
      invalid_format: raw`invalid_format + ${tally.invalidFormat}`,
      disposable: raw`disposable + ${tally.disposable}`,
      invalid_dns: raw`invalid_dns + ${tally.invalidDns}`,
      valid: raw`valid + ${tally.valid}`,
      open_chunks: raw`open_chunks - 1`,
      ...(at.conclusive && { dns_down_since_ms: null }),
    },
  );
  return job?.open_chunks;
}

const answeredBy = (answered: ReadonlyMap<string, Tally>) => {
  const cases = [...answered].map(
    ([token, tally]) => raw`when ${token} then ${JSON.stringify(tally)}`,
  );
  return raw<string | null>`case lease_token ${raw.join(cases, raw` `)} else answered end`;
};
