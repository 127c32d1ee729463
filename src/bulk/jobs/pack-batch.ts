import type { Charges } from "../../accounts/admission/charges.ts";
import type { Ids } from "../../base/ids.ts";
import { type Owner, ownerKey } from "../../base/owner.ts";
import { type PackedChunk, sumOfTallies, type Tally } from "../../core/batch/batch-chunk.ts";
import { changeRows, deleteRows } from "../../store/rows.ts";
import { packLines, packText } from "../../store/pack.ts";
import type { Db } from "../../store/schema.ts";
import type { ChunkRow, JobRow, TablePageRow } from "../../store/tables/bulk.ts";
import type { Tx } from "../../store/transaction.ts";

/** A chunk of a list costs its owner 1 turn for up to 4 chunks, at most 4: so a short list ends early beside large ones. */
export const CHUNKS_AT_ONCE = 4;

export const TURNS_MAX = 4;

export interface NewBatch {
  readonly session: string;
  readonly owner: Owner;
  readonly clientAddress: string;
  readonly total: number;
  readonly unique: number;
  readonly chunks: readonly PackedChunk[];
  readonly table?: StoredTable;
  readonly keep?: KeptAnswer;
  readonly nowMs: number;
}

export interface TableRows {
  readonly cells: Uint8Array;
  readonly entries: Int32Array;
}

/** The cells of a row with one entry, or a row of which there is more to say. */
export type StoredRow =
  | readonly string[]
  | {
      readonly cells: readonly string[];
      readonly count: number;
      /** What was read, where the cell says it in other words. */
      readonly readAs?: string | undefined;
      readonly reason?: string | undefined;
    };

export interface TablePage {
  readonly rows: readonly StoredRow[];
  readonly entries: readonly number[];
}

export interface StoredTable {
  readonly header: readonly string[];
  readonly delimiter: string;
  readonly pages: readonly TableRows[];
}

/** Stored with the batch under a key that `RetryKeys.begin` opened. */
export interface KeptAnswer {
  readonly key: string;
  readonly token: string;
  readonly answer: string;
}

export interface ChunkOutcome {
  readonly results: readonly string[];
  readonly valid: readonly string[];
  readonly tally: Tally;
}

export interface CompletedBatch extends Pick<NewBatch, "session" | "owner" | "total" | "unique"> {
  readonly tally: Tally;
}

export interface BulkStoreDeps {
  readonly db: Db;
  readonly charges: Charges;
  readonly ids: Ids;
}

export interface JobOrder extends NewBatch {
  readonly spamTrap: boolean;
  /** How long after the acceptance of the owner's last job the next may come; 0: at once. */
  readonly cooldownMs: number;
  /** Entries not yet checked, of all owners and this batch together, at most. */
  readonly bufferMax: number;
}

export interface CheckedBatch extends NewBatch {
  readonly outcomes: readonly ChunkOutcome[];
}

export interface PackedBatch {
  readonly batch: JobOrder | CheckedBatch;
  readonly chunks: readonly ChunkRow[];
  readonly pages: readonly TablePageRow[];
}

/** Done before the transaction, which then holds the write lock for no longer than the writing takes. */
export async function packBatch(batch: JobOrder | CheckedBatch): Promise<PackedBatch> {
  const { session, nowMs } = batch;
  const chunks: ChunkRow[] = [];
  // One after the other, here and below: packing takes a quarter of a megabyte each time.
  for (const [number, { entries, content }] of batch.chunks.entries()) {
    const outcome = "outcomes" in batch ? batch.outcomes[number] : undefined;
    chunks.push({
      session,
      number,
      entries,
      content: await packText(content),
      available_at_ms: outcome === undefined ? nowMs : null,
      lease_worker: null,
      lease_token: null,
      claims: 0,
      results: outcome === undefined ? null : await packLines(outcome.results),
      valid: outcome === undefined ? null : await packLines(outcome.valid),
      answered: null,
    });
  }
  const pages = batch.table === undefined ? [] : await packPages(session, batch.table);
  return { batch, chunks, pages };
}

async function packPages(session: string, table: StoredTable): Promise<readonly TablePageRow[]> {
  const made: TablePageRow[] = [];
  for (const [number, { cells, entries }] of table.pages.entries()) {
    const page = [Buffer.from('{"rows":'), cells, Buffer.from(`,"entries":[${entries.join()}]}`)];
    made.push({ session, number, content: await packText(Buffer.concat(page)) });
  }
  return made;
}

export function jobRow({ batch, chunks, pages }: PackedBatch, charge_id: string): JobRow {
  const isDone = "outcomes" in batch;
  const tally = sumOfTallies(isDone ? batch.outcomes.map((outcome) => outcome.tally) : []);
  return {
    session: batch.session,
    owner: ownerKey(batch.owner),
    client_address: batch.clientAddress,
    origin: isDone ? "sync" : "queued",
    state: isDone ? "completed" : "pending",
    is_running: isDone ? 0 : 1,
    spam_trap: !isDone && batch.spamTrap ? 1 : 0,
    total: batch.total,
    unique_count: batch.unique,
    processed: isDone ? batch.unique : 0,
    invalid_format: tally.invalidFormat,
    disposable: tally.disposable,
    invalid_dns: tally.invalidDns,
    valid: tally.valid,
    chunk_count: chunks.length,
    open_chunks: isDone ? 0 : chunks.length,
    charge_id,
    accepted_at_ms: batch.nowMs,
    served_turn: turnsOf(chunks.length), // of lists that come together, small ones are first
    dns_down_since_ms: null,
    expires_at_ms: isDone ? batch.nowMs + SESSION_LIFE_MS : null,
    announced: isDone ? 0 : 1,
    table_header: batch.table === undefined ? null : packHeader(batch.table),
    table_pages: pages.length,
  };
}

const packHeader = ({ header, delimiter }: StoredTable): string =>
  JSON.stringify(delimiter === "," ? header : { header, delimiter });

export function unpackHeader(text: string): Pick<StoredTable, "header" | "delimiter"> {
  const packed = JSON.parse(text) as readonly string[] | Pick<StoredTable, "header" | "delimiter">;
  return "header" in packed ? packed : { header: packed, delimiter: "," };
}

/** 11 values a row: PostgreSQL takes 65,535 in a statement, SQLite 32,766. */
const ROWS_MAX = 100;

export async function insertParts({ sql }: Tx, { chunks, pages }: PackedBatch): Promise<void> {
  for (let at = 0; at < chunks.length; at += ROWS_MAX) {
    const some = chunks.slice(at, at + ROWS_MAX);
    await sql.insertInto("chunks").values(some).execute();
  }
  for (let at = 0; at < pages.length; at += ROWS_MAX) {
    const some = pages.slice(at, at + ROWS_MAX);
    await sql.insertInto("table_pages").values(some).execute();
  }
}

export async function keepAnswer({ sql }: Tx, { session, owner, keep }: NewBatch): Promise<void> {
  if (keep === undefined) return;
  const { key, token, answer } = keep;
  await changeRows(sql, "retry_keys", { owner: ownerKey(owner), key, token }, { session, answer });
}

export async function deleteParts({ sql }: Tx, session: string): Promise<void> {
  await deleteRows(sql, "chunks", { session });
  await deleteRows(sql, "table_pages", { session });
  await deleteRows(sql, "retry_keys", { session });
}

export const turnsOf = (chunks: number): number =>
  Math.min(TURNS_MAX, Math.ceil(chunks / CHUNKS_AT_ONCE));

export const SESSION_LIFE_MS = 15 * 60_000;
