import { type Chunk, chunkEntries, chunkOf, entryAt } from "../core/batch/batch-chunk.ts";
import { addressBalance, entryNote, type ListKind, withNote } from "../core/batch/result-cells.ts";
import type { FullResult } from "../core/validate/result.ts";
import type { SessionStore, TablePage } from "./sessions.ts";
import type { RowResult, SpelledResult } from "./bulk.ts";

interface ResultSource {
  readonly chunks: number;
  chunk(number: number): Promise<Chunk | undefined>;
  results(chunk: number): Promise<readonly string[] | undefined>;
}

export const storedResults = (
  store: Pick<SessionStore, "chunk" | "lines">,
  { session, chunks }: { readonly session: string; readonly chunks: number },
): ResultSource => ({
  chunks,
  chunk: (number) => store.chunk(session, number),
  results: (number) => store.lines(session, number, "results"),
});

/** The same results with notes. Whether the list is one of addresses shows once all chunks are read. */
async function withNotes(source: ResultSource): Promise<ResultSource> {
  let balance = 0;
  for (let number = 0; number < source.chunks; number += 1) {
    balance += addressBalance(chunkEntries(there(await source.chunk(number))));
  }
  const among: ListKind = balance > 0 ? "addresses" : "anything";
  return {
    ...source,
    async results(number) {
      const entries = chunkEntries(there(await source.chunk(number)));
      const results = there(await source.results(number));
      return results.map((text, at) => notedText(text, entries[at] ?? "", among));
    },
  };
}

const MALFORMED = '{"format":false';

/** Most results need no note, which their text and the entry show without parsing. */
export function notedText(result: string, entry: string, among: ListKind): string {
  const isSuspect = among === "addresses" && !entry.includes("@");
  const note = isSuspect || result.startsWith(MALFORMED) ? entryNote(entry, among) : undefined;
  if (note === undefined) return result;
  return JSON.stringify(withNote(JSON.parse(result) as FullResult, note));
}

/** A reader that started before the session ended gets no more of it; its answer breaks off. */
function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the session ended while it was read");
  return part;
}

/** Results in ascending order with one chunk in memory, and of older ones those in `wantedAgain`. */
class Cursor {
  readonly #source: ResultSource;
  readonly #wantedAgain: ReadonlySet<number>;
  readonly #kept = new Map<number, string>();
  #chunk = -1;
  #first = 0;
  #results: readonly string[] = [];

  constructor(source: ResultSource, wantedAgain: ReadonlySet<number>) {
    this.#source = source;
    this.#wantedAgain = wantedAgain;
  }

  /** Whether `at` knows the entry; a promise for each of thousands of rows would cost more than the row. */
  has(entry: number): boolean {
    return chunkOf(entry) <= this.#chunk;
  }

  async reach(entry: number): Promise<void> {
    while (!this.has(entry)) await this.#next();
  }

  at(entry: number): string {
    return there(this.#results[entry - this.#first] ?? this.#kept.get(entry));
  }

  async #next(): Promise<void> {
    this.#first += this.#results.length;
    this.#chunk += 1;
    this.#results = there(await this.#source.results(this.#chunk));
    if (this.#wantedAgain.size === 0) return;
    for (const [index, result] of this.#results.entries()) {
      const entry = this.#first + index;
      if (this.#wantedAgain.has(entry)) this.#kept.set(entry, result);
    }
  }
}

class Repeats {
  readonly entries = new Set<number>();
  #newest = -1;

  note(entry: number): void {
    if (entry > this.#newest) this.#newest = entry;
    else if (chunkOf(entry) < chunkOf(this.#newest)) this.entries.add(entry);
  }
}

export async function* spelledResults(
  plain: ResultSource,
  { isNoted }: { readonly isNoted: boolean },
): AsyncGenerator<readonly SpelledResult[]> {
  const source = isNoted ? await withNotes(plain) : plain;
  const repeats = new Repeats();
  for (let number = 0; number < source.chunks; number += 1) {
    const chunk = there(await source.chunk(number));
    for (const index of chunk.spellings.keys()) repeats.note(entryAt(chunk, index));
  }
  const cursor = new Cursor(source, repeats.entries);
  let newest = -1;
  for (let number = 0; number < source.chunks; number += 1) {
    const chunk = there(await source.chunk(number));
    // A spelling is one of this chunk's entries or of an earlier one's.
    await cursor.reach(chunk.first);
    yield chunk.spellings.map((spelling, index) => {
      const entry = entryAt(chunk, index);
      const isDuplicate = entry <= newest;
      newest = Math.max(newest, entry);
      return { spelling, isDuplicate, result: cursor.at(entry) };
    });
  }
}

interface RowSource {
  readonly pages: number;
  page(number: number): Promise<TablePage | undefined>;
}

/** With notes. */
export async function* rowResults(
  plain: ResultSource,
  rows: RowSource,
): AsyncGenerator<readonly RowResult[]> {
  const source = await withNotes(plain);
  const repeats = new Repeats();
  for (let number = 0; number < rows.pages; number += 1) {
    for (const entry of there(await rows.page(number)).entries) repeats.note(entry);
  }
  const cursor = new Cursor(source, repeats.entries);
  let newest = -1;
  for (let number = 0; number < rows.pages; number += 1) {
    const page = there(await rows.page(number));
    const made: RowResult[] = [];
    let at = 0;
    for (const row of page.rows) {
      const { cells, count, ...note } = "cells" in row ? row : { cells: row, count: 1 };
      const results: string[] = [];
      let isDuplicate = count > 0;
      for (const entry of page.entries.slice(at, at + count)) {
        if (!cursor.has(entry)) await cursor.reach(entry);
        if (entry > newest) isDuplicate = false;
        newest = Math.max(newest, entry);
        results.push(cursor.at(entry));
      }
      at += count;
      made.push({ cells, results, isDuplicate, ...note });
    }
    yield made;
  }
}
