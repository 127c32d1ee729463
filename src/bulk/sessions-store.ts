import { entriesIn, sumOf, type Tally } from "../core/batch/tally.ts";
import type { ChunkOutcome, NewBatch } from "./batches.ts";
import type { Charge, ChargeTerms, Unpaid } from "../accounts/admission/charges.ts";
import type { Session, SessionStore, TablePage } from "./session-store.ts";
import { SESSION_LIFE_MS } from "./session-store.ts";
import { type BulkStoreDeps, insertParts, jobRow, keepAnswer, packBatch } from "./batches-store.ts";
import { answeredIn, tallyOf } from "./jobs-store.ts";
import { pruneSessions } from "./prune-sessions.ts";
import { unpackLines, unpackText } from "../store/packed-text.ts";
import type { JobRow } from "../store/tables/bulk.ts";
import { inTransaction } from "../store/transaction.ts";

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
  return sessionOf(row, row.state, answeredIn(rows));
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
