import { pruneLists } from "./list-store.ts";
import type { Kysely } from "kysely";
import type { Charge, ChargeTerms, Unpaid } from "../accounts/admission/charges.ts";
import type { OwnerKey } from "../base/owner.ts";
import { entriesIn, sumOf, type Tally } from "../core/batch/batch-chunk.ts";
import { deleteRows, findRow, insertRow, unpackLines, unpackText } from "../store/rows.ts";
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
  readonly tally: Tally;
  readonly chunks: number;
  readonly chunksDone: number;
  readonly expiresAtMs?: number;
  readonly table?: { readonly header: readonly string[]; readonly pages: number };
}

/** Rows of an uploaded table, and the entries of all of them in their order. */
export interface TablePage {
  readonly rows: readonly StoredRow[];
  readonly entries: readonly number[];
}

function counters(batch: NewBatch, outcomes: readonly ChunkOutcome[]) {
  const { invalidFormat, disposable, invalidDns, valid } = sumOf(
    outcomes.map(({ tally }) => tally),
  );
  return {
    processed: batch.unique,
    open_chunks: 0,
    invalid_format: invalidFormat,
    disposable,
    invalid_dns: invalidDns,
    valid,
    expires_at_ms: batch.nowMs + SESSION_LIFE_MS,
  };
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
    total: row.total,
    unique: row.unique_count,
    processed: row.processed + entriesIn(answered),
    tally: sumOf([tallyOf(row), answered]),
    chunks: row.chunk_count,
    chunksDone: row.chunk_count - row.open_chunks,
    ...(row.expires_at_ms !== null && { expiresAtMs: row.expires_at_ms }),
    ...(header === null
      ? {}
      : { table: { header: JSON.parse(header) as string[], pages: row.table_pages } }),
  };
}

type Column = "content" | "results" | "valid";

/** Parts of a session that is gone, or not that far, are undefined. Rules: `test/contracts/bulk/session-store.ts`. */
export class SessionStore {
  readonly #deps: BulkStoreDeps;

  constructor(deps: BulkStoreDeps) {
    this.#deps = deps;
  }

  /** Stores a batch that was checked at once, with one outcome for each chunk, and charges it, all or nothing. */
  async save(
    batch: NewBatch,
    outcomes: readonly ChunkOutcome[],
    terms: ChargeTerms,
  ): Promise<Charge | Unpaid> {
    const { db, charges } = this.#deps;
    const packed = await packBatch(batch, outcomes);
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
        await insertRow(tx.sql, "jobs", { ...row, ...counters(batch, outcomes) });
        await insertParts(tx, packed);
        await keepAnswer(tx, batch, batch.keep);
        return made;
      });
    } finally {
      charges.drop(held);
    }
  }

  /** What `save` would say of these terms now; nothing is charged, and nothing kept for later. */
  async payable(terms: ChargeTerms): Promise<Unpaid | undefined> {
    const { db, charges } = this.#deps;
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
      charges.drop(held);
    }
  }

  async find(session: string, nowMs: number): Promise<Session | undefined> {
    // One statement, so that a chunk that is stored meanwhile counts once.
    const rows = await this.#deps.db
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
    if (row.expires_at_ms !== null && row.expires_at_ms <= nowMs) return undefined;
    const { state } = row;
    const shown = state === "stopping" ? "processing" : state === "stopped" ? "failed" : state;
    return sessionOf(row, shown, answeredIn(rows));
  }

  async content(session: string, chunk: number): Promise<string | undefined> {
    const packed = await this.#part(session, chunk, "content");
    return packed && unpackText(packed);
  }

  async results(session: string, chunk: number): Promise<readonly string[] | undefined> {
    const packed = await this.#part(session, chunk, "results");
    return packed && unpackLines(packed);
  }

  async valid(session: string, chunk: number): Promise<readonly string[] | undefined> {
    const packed = await this.#part(session, chunk, "valid");
    return packed && unpackLines(packed);
  }

  async page(session: string, number: number): Promise<TablePage | undefined> {
    const row = await findRow(this.#deps.db, "table_pages", { session, number });
    return row && (JSON.parse(await unpackText(row.content)) as TablePage);
  }

  async #part(session: string, chunk: number, column: Column): Promise<Uint8Array | undefined> {
    const row = await this.#deps.db
      .selectFrom("chunks")
      .select(`${column} as packed`)
      .where("session", "=", session)
      .where("number", "=", chunk)
      .executeTakeFirst();
    return row?.packed ?? undefined;
  }
}

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
    await deleteRows(sql, "retry_keys", { session });
    await deleteRows(sql, "jobs", { session });
  });
}

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

/** Deletes what has expired; returns how many sessions and lists. */
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
