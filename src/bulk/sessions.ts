import { pruneLists } from "./list-store.ts";
import type { Kysely } from "kysely";
import type { Charge, ChargeTerms, Unpaid } from "../accounts/admission/charges.ts";
import type { OwnerKey } from "../base/owner.ts";
import { entriesIn, sumOf, type Tally } from "../core/batch/batch-chunk.ts";
import { unpackLines, unpackText } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import type { JobRow } from "../store/tables/bulk.ts";
import { inTransaction } from "../store/transaction.ts";
import {
  type BulkStoreDeps,
  type ChunkOutcome,
  insertParts,
  jobRow,
  keepAnswer,
  type NewBatch,
  packBatch,
  SESSION_LIFE_MS,
  type StoredRow,
} from "./batches-store.ts";
import { answeredIn, SPEED_AGE_MS, tallyOf } from "./jobs.ts";

/** What is known of a session that is there. */
export interface Session {
  readonly session: string;
  readonly owner: OwnerKey;
  readonly clientAddress: string;
  readonly origin: "sync" | "queued";
  readonly state: "pending" | "processing" | "completed" | "failed";
  readonly total: number;
  readonly unique: number;
  /** Entries that were answered; never falls. Up to 1 s late for those whose chunk is not done. */
  readonly processed: number;
  /** Of the processed ones. */
  readonly tally: Tally;
  readonly chunks: number;
  /** Of the chunks those whose results can be read. */
  readonly chunksDone: number;
  /** From when on it is gone; absent while it is not over. */
  readonly expiresAtMs?: number;
  /** Of an uploaded table. */
  readonly table?: { readonly header: readonly string[]; readonly pages: number };
}

/** Rows of an uploaded table, and the entries of all of them in their order. */
export interface TablePage {
  readonly rows: readonly StoredRow[];
  readonly entries: readonly number[];
}

/**
 * What a batch left to be read. Parts of a session that is gone, or not that far, are undefined.
 * Rules: `test/contracts/bulk/session-store.ts`.
 */
export interface SessionStore {
  /**
   * Stores a batch that was checked at once, and charges it, all or nothing. It completes now.
   * `outcomes` has one for each chunk.
   */
  save(
    batch: NewBatch,
    outcomes: readonly ChunkOutcome[],
    terms: ChargeTerms,
  ): Promise<Charge | Unpaid>;
  /** What `save` would say of these terms now; nothing is charged, and nothing kept for later. */
  payable(terms: ChargeTerms): Promise<Unpaid | undefined>;
  /** Never a session that is expired or removed, pruned or not. */
  find(session: string, nowMs: number): Promise<Session | undefined>;
  /** For `unpackChunk`. */
  content(session: string, chunk: number): Promise<string | undefined>;
  /** JSON texts in the order of the chunk's entries. */
  results(session: string, chunk: number): Promise<readonly string[] | undefined>;
  /** First spellings of the chunk's valid entries. */
  valid(session: string, chunk: number): Promise<readonly string[] | undefined>;
  page(session: string, page: number): Promise<TablePage | undefined>;
  /** Deletes what has expired; returns how many sessions. */
  prune(nowMs: number): Promise<number>;
}

interface Checked {
  readonly batch: NewBatch;
  readonly outcomes: readonly ChunkOutcome[];
}

/** The counters of a batch whose chunks are all checked. */
function counters({ batch, outcomes }: Checked) {
  const sum = (of: (outcome: ChunkOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  return {
    processed: batch.unique,
    open_chunks: 0,
    invalid_format: sum(({ tally }) => tally.invalidFormat),
    disposable: sum(({ tally }) => tally.disposable),
    invalid_dns: sum(({ tally }) => tally.invalidDns),
    valid: sum(({ tally }) => tally.valid),
    expires_at_ms: batch.nowMs + SESSION_LIFE_MS,
  };
}

async function save(
  checked: Checked,
  terms: ChargeTerms,
  { db, charges }: BulkStoreDeps,
): Promise<Charge | Unpaid> {
  const { batch } = checked;
  const packed = await packBatch(batch, checked.outcomes);
  const held = await charges.hold(terms);
  try {
    return await inTransaction(db, async (tx) => {
      const made = await charges.writeIn(tx, held);
      if (made.kind === "unpaid") {
        tx.abandon();
        return made;
      }
      const row = jobRow(packed, {
        origin: "sync",
        state: "completed",
        is_running: 0,
        charge_id: made.id,
        announced: 0,
        spam_trap: 0,
      });
      await tx.sql
        .insertInto("jobs")
        .values({ ...row, ...counters(checked) })
        .execute();
      await insertParts(tx, packed);
      await keepAnswer(tx, batch, batch.keep);
      return made;
    });
  } finally {
    await charges.drop(held);
  }
}

async function payable(
  terms: ChargeTerms,
  { db, charges }: BulkStoreDeps,
): Promise<Unpaid | undefined> {
  const held = await charges.hold(terms);
  if (held.kind === "unpaid") return held;
  try {
    // Whether credits cover it shows only when they are taken.
    if (!("otherwise" in held)) return undefined;
    const charge = await inTransaction(db, async (tx) => {
      tx.abandon();
      return await charges.writeIn(tx, held);
    });
    return charge.kind === "unpaid" ? charge : undefined;
  } finally {
    await charges.drop(held);
  }
}

/** `answered`: of the chunks that are not done. */
function sessionOf(row: JobRow, state: Session["state"], answered: Tally): Session {
  const header = row.table_header;
  return {
    session: row.session,
    owner: row.owner,
    clientAddress: row.client_address,
    origin: row.origin,
    state,
    total: Number(row.total),
    unique: Number(row.unique_count),
    processed: Number(row.processed) + entriesIn(answered),
    tally: sumOf([tallyOf(row), answered]),
    chunks: Number(row.chunk_count),
    chunksDone: Number(row.chunk_count) - Number(row.open_chunks),
    ...(row.expires_at_ms !== null && { expiresAtMs: Number(row.expires_at_ms) }),
    ...(header === null
      ? {}
      : { table: { header: JSON.parse(header) as string[], pages: Number(row.table_pages) } }),
  };
}

async function find({ db }: BulkStoreDeps, session: string, nowMs: number) {
  // One statement, so that a chunk that is stored meanwhile counts once.
  const rows = await db
    .selectFrom("jobs")
    .leftJoin("chunks", (join) =>
      join.onRef("chunks.session", "=", "jobs.session").on("chunks.answered", "is not", null),
    )
    .select("chunks.answered") // first: where a later version adds a column, node:sqlite 22.23 forgets the last one
    .selectAll("jobs")
    .where("jobs.session", "=", session)
    .execute();
  const [row] = rows;
  if (row === undefined || row.state === "gone") return undefined;
  if (row.expires_at_ms !== null && Number(row.expires_at_ms) <= nowMs) return undefined;
  const { state } = row;
  const shown = state === "stopping" ? "processing" : state === "stopped" ? "failed" : state;
  return sessionOf(row, shown, answeredIn(rows));
}

interface Part {
  readonly session: string;
  readonly chunk: number;
  readonly column: "content" | "results" | "valid";
}

async function part(
  { db }: BulkStoreDeps,
  { session, chunk, column }: Part,
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom("chunks")
    .select(`${column} as packed`)
    .where("session", "=", session)
    .where("number", "=", chunk)
    .executeTakeFirst();
  return row?.packed ?? undefined;
}

async function page({ db }: BulkStoreDeps, session: string, number: number) {
  const row = await db
    .selectFrom("table_pages")
    .select("content")
    .where("session", "=", session)
    .where("number", "=", number)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return JSON.parse(await unpackText(row.content)) as TablePage;
}

/** Sessions on SQLite or PostgreSQL. */
export function sqlSessionStore(deps: BulkStoreDeps): SessionStore {
  const lines = async (wanted: Part): Promise<readonly string[] | undefined> => {
    const packed = await part(deps, wanted);
    return packed === undefined ? undefined : unpackLines(packed);
  };
  return {
    save: (batch, outcomes, terms) => save({ batch, outcomes }, terms, deps),
    payable: (terms) => payable(terms, deps),
    find: (session, nowMs) => find(deps, session, nowMs),
    async content(session, chunk) {
      const packed = await part(deps, { session, chunk, column: "content" });
      return packed === undefined ? undefined : unpackText(packed);
    },
    results: (session, chunk) => lines({ session, chunk, column: "results" }),
    valid: (session, chunk) => lines({ session, chunk, column: "valid" }),
    page: (session, number) => page(deps, session, number),
    prune: (nowMs) => pruneSessions(deps.db, nowMs),
  };
}

/** Rows deleted in one transaction: other writers wait for its end. */
const PRUNE_ROWS_MAX = 25;

/** Deletes a session's parts a few at a time, then the session. It is invisible all the while. */
async function pruneSession(db: Kysely<Database>, session: string): Promise<void> {
  for (const table of ["chunks", "table_pages"] as const) {
    let gone = PRUNE_ROWS_MAX;
    while (gone === PRUNE_ROWS_MAX) {
      const { numDeletedRows } = await db
        .deleteFrom(table)
        .where("session", "=", session)
        .where("number", "in", (query) =>
          query
            .selectFrom(table)
            .select("number")
            .where("session", "=", session)
            .limit(PRUNE_ROWS_MAX),
        )
        .executeTakeFirstOrThrow();
      gone = Number(numDeletedRows);
    }
  }
  await inTransaction(db, async ({ sql }) => {
    await sql.deleteFrom("retry_keys").where("session", "=", session).execute();
    await sql.deleteFrom("jobs").where("session", "=", session).execute();
  });
}

/** What requests and workers left behind that died. */
async function pruneLeftovers(db: Kysely<Database>, nowMs: number): Promise<void> {
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

/** See `SessionStore.prune`. Needs only the database, so that a worker can do it. */
export async function pruneSessions(db: Kysely<Database>, nowMs: number): Promise<number> {
  await pruneLeftovers(db, nowMs);
  const lists = await pruneLists(db, nowMs);
  const expired = await db
    .selectFrom("jobs")
    .select("session")
    .where("expires_at_ms", "<=", nowMs)
    .execute();
  for (const { session } of expired) await pruneSession(db, session);
  return expired.length + lists;
}

/** Whether there is anything that `pruneSessions` or a worker will have to see to. */
export async function holdsSessions(db: Kysely<Database>): Promise<boolean> {
  const job = await db.selectFrom("jobs").select("session").limit(1).executeTakeFirst();
  const key = await db.selectFrom("retry_keys").select("key").limit(1).executeTakeFirst();
  const list = await db.selectFrom("account_lists").select("id").limit(1).executeTakeFirst();
  return job !== undefined || key !== undefined || list !== undefined;
}
