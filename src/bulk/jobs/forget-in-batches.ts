import { sql as raw } from "kysely";
import {
  type Chunk,
  chunkNumbers,
  EMPTY_TALLY,
  entriesIn,
  entryAt,
  entryClassOf,
  type EntryClass,
  sumOfTallies,
  tally,
  type Tally,
  unpackChunk,
  withoutEntries,
} from "../../core/batch/batch-chunk.ts";
import type { SoughtAddress } from "../../core/batch/sought-address.ts";
import type { FullResult } from "../../core/validate/result.ts";
import { packLines, packText, unpackLines, unpackText } from "../../store/pack.ts";
import { changeRow, changeRows, findRow } from "../../store/rows.ts";
import type { Db } from "../../store/schema.ts";
import type { ChunkRow } from "../../store/tables/bulk.ts";
import { inTransaction, type Tx } from "../../store/transaction.ts";
import type { StoredRow, TablePage } from "./pack-batch.ts";
import { endJobIn } from "./chunk-queue.ts";
import type { Jobs } from "./jobs.ts";

interface ForgetBatchesDeps {
  readonly db: Db;
  readonly jobs: Pick<Jobs, "remove">;
  readonly clock: { readonly nowMs: () => number };
}

/** Takes an address out of all batches, running ones too, each whole or not at all. Returns how many entries and rows had it. */
export async function forgetInBatches(
  deps: ForgetBatchesDeps,
  sought: SoughtAddress,
  isLook: boolean,
): Promise<number> {
  const sessions = await deps.db.selectFrom("chunks").select("session").distinct().execute();
  let count = 0;
  for (const { session } of sessions) {
    const found = await findIn(deps.db, session, sought);
    count += found.entries.size + found.others;
    if (isLook || found.chunks.length + found.pages.length === 0) continue;
    if (!(await takeOut(deps, sought, found))) await deps.jobs.remove(session, deps.clock.nowMs());
  }
  return count;
}

async function findIn(db: Db, session: string, sought: SoughtAddress) {
  const entries = new Set<number>();
  const chunks: number[] = [];
  for (const number of await numbersOf(db, "chunks", session)) {
    const row = await findRow(db, "chunks", { session, number });
    const text = row === undefined ? "" : await unpackText(row.content);
    if (!sought.mayBeIn(text)) continue;
    const chunk = unpackChunk(text);
    const its = chunk.spellings.flatMap((spelling, at) =>
      sought.isIn(spelling) ? entryAt(chunk, at) : [],
    );
    for (const entry of its) entries.add(entry);
    if (its.length > 0) chunks.push(number);
  }
  const pages: number[] = [];
  let others = 0;
  for (const number of await numbersOf(db, "table_pages", session)) {
    const row = await findRow(db, "table_pages", { session, number });
    if (row === undefined) continue;
    const page = cutPage(JSON.parse(await unpackText(row.content)) as TablePage, entries, sought);
    if (page.gone + page.changed > 0) pages.push(number);
    others += page.changed;
  }
  // `others`: rows of its table that are another entry's, and name the address all the same.
  return { session, entries, chunks, pages, others };
}

async function numbersOf(
  db: Db,
  table: "chunks" | "table_pages",
  session: string,
): Promise<readonly number[]> {
  const rows = await db
    .selectFrom(table)
    .select("number")
    .where("session", "=", session)
    .orderBy("number")
    .execute();
  return rows.map(({ number }) => number);
}

async function takeOut(
  { db, clock }: ForgetBatchesDeps,
  sought: SoughtAddress,
  { session, entries, chunks, pages }: Awaited<ReturnType<typeof findIn>>,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    // The job before its chunks, as everywhere.
    const job = await changeRow(tx.sql, "jobs", { session }, { session });
    if (job === undefined || job.state === "gone") return true;
    if (job.unique_count <= entries.size) return false;
    const done: Tally[] = [];
    let [spelled, ended, answered] = [0, 0, 0];
    for (const number of chunks) {
      const cut = await cutChunk(tx, { session, number, nowMs: clock.nowMs() }, entries, sought);
      done.push(cut.done);
      spelled += cut.spelled;
      ended += cut.isEnded ? 1 : 0;
    }
    let inRows = 0;
    for (const number of pages)
      inRows += await changePage(tx, { session, number }, entries, sought);
    const counted = sumOfTallies(done);
    answered = entriesIn(counted);
    const left = await changeRow(
      tx.sql,
      "jobs",
      { session },
      {
        total: raw`total - ${job.table_pages > 0 ? inRows : spelled}`,
        unique_count: raw`unique_count - ${entries.size}`,
        processed: raw`processed - ${answered}`,
        invalid_format: raw`invalid_format - ${counted.invalidFormat}`,
        disposable: raw`disposable - ${counted.disposable}`,
        invalid_dns: raw`invalid_dns - ${counted.invalidDns}`,
        valid: raw`valid - ${counted.valid}`,
        open_chunks: raw`open_chunks - ${ended}`,
      },
    );
    if (ended > 0 && left?.open_chunks === 0 && left.is_running === 1)
      await endJobIn(tx, session, clock.nowMs());
    return true;
  });
}

async function cutChunk(
  { sql }: Tx,
  { session, number, nowMs }: Pick<ChunkRow, "session" | "number"> & { readonly nowMs: number },
  gone: ReadonlySet<number>,
  sought: SoughtAddress,
) {
  const row = await findRow(sql, "chunks", { session, number });
  if (row === undefined) return { done: EMPTY_TALLY, spelled: 0, isEnded: false };
  const chunk = unpackChunk(await unpackText(row.content));
  const left = withoutEntries(chunk, gone);
  const own = chunkNumbers(chunk).filter((entry) => gone.has(entry)).length;
  const entries = row.entries - own;
  const results = row.results && (await cutResults(row.results, chunk, gone));
  const valid = row.valid && (await unpackLines(row.valid)).filter((line) => !sought.isIn(line));
  const isOpen = row.available_at_ms !== null;
  const isEnded = isOpen && entries === 0;
  await changeRows(
    sql,
    "chunks",
    { session, number },
    {
      content: await packText(JSON.stringify(left)),
      entries,
      ...(results && { results: await packLines(results.left) }),
      ...(valid && { valid: await packLines(valid) }),
      ...(isOpen && own > 0 && reopened(row, entries, nowMs)),
      ...(isEnded && { results: await packLines([]), valid: await packLines([]) }),
    },
  );
  const spelled = chunk.spellings.length - left.spellings.length;
  return { done: tally(results?.gone ?? []), spelled, isEnded };
}

async function cutResults(packed: Uint8Array, chunk: Chunk, gone: ReadonlySet<number>) {
  const lines = await unpackLines(packed);
  const numbers = chunkNumbers(chunk);
  const isGone = (at: number): boolean => gone.has(numbers[at] ?? -1);
  const kinds = lines.flatMap((line, at): readonly EntryClass[] =>
    isGone(at) ? [entryClassOf(JSON.parse(line) as FullResult)] : [],
  );
  return { left: lines.filter((_, at) => !isGone(at)), gone: kinds };
}

/** The worker that has it comes too late; another gets what is left of it. */
function reopened(row: ChunkRow, entries: number, nowMs: number): Partial<ChunkRow> {
  if (entries === 0)
    return { available_at_ms: null, lease_worker: null, lease_token: null, answered: null };
  const answered = row.answered === null ? null : (JSON.parse(row.answered) as Tally);
  const shown = answered && JSON.stringify(atMost(answered, entries));
  if (row.lease_token === null) return { answered: shown };
  return { available_at_ms: nowMs, lease_worker: null, lease_token: null, answered: shown };
}

/** What a worker answered, where that is of more entries than are left. */
function atMost(answered: Tally, entries: number): Tally {
  const left = { ...answered };
  for (const kind of Object.keys(left) as EntryClass[]) {
    const over = entriesIn(left) - entries;
    if (over > 0) left[kind] -= Math.min(left[kind], over);
  }
  return left;
}

async function changePage(
  { sql }: Tx,
  { session, number }: { readonly session: string; readonly number: number },
  entries: ReadonlySet<number>,
  sought: SoughtAddress,
): Promise<number> {
  const row = await findRow(sql, "table_pages", { session, number });
  if (row === undefined) return 0;
  const before = JSON.parse(await unpackText(row.content)) as TablePage;
  const { page } = cutPage(before, entries, sought);
  const content = await packText(JSON.stringify(page));
  await changeRows(sql, "table_pages", { session, number }, { content });
  return before.entries.length - page.entries.length;
}

/** A row whose entry is gone goes whole; in the others the address alone does. */
function cutPage({ rows, entries }: TablePage, gone: ReadonlySet<number>, sought: SoughtAddress) {
  const kept: StoredRow[] = [];
  const numbers: number[] = [];
  let [at, changed] = [0, 0];
  for (const row of rows) {
    const { cells, count } = "cells" in row ? row : { cells: row, count: 1 };
    const its = entries.slice(at, at + count);
    at += count;
    if (its.some((entry) => gone.has(entry))) continue;
    const clean = cells.map((cell) => sought.without(cell));
    if (clean.some((cell, index) => cell !== cells[index])) changed += 1;
    kept.push("cells" in row ? { ...row, cells: clean } : clean);
    numbers.push(...its);
  }
  return { page: { rows: kept, entries: numbers }, gone: rows.length - kept.length, changed };
}
