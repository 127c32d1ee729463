import { chunkEntries, chunkOf, entryAt, unpackChunk } from "../../core/batch/batch-chunk.ts";
import { addressBalance, entryNote, type ListKind, withNote } from "../../core/batch/entry-note.ts";
import type { FullResult } from "../../core/validate/result.ts";
import type { SessionStore, TablePage } from "../../ports/bulk/session-store.ts";
import type { RowResult, SpelledResult } from "./bulk.ts";

/** The parts of a checked batch, wherever they are; undefined when they are gone. */
export interface ResultSource {
  readonly chunks: number;
  content(chunk: number): Promise<string | undefined>;
  results(chunk: number): Promise<readonly string[] | undefined>;
}

export function storedResults(
  store: Pick<SessionStore, "content" | "results">,
  { session, chunks }: { readonly session: string; readonly chunks: number },
): ResultSource {
  return {
    chunks,
    content: (chunk) => store.content(session, chunk),
    results: (chunk) => store.results(session, chunk),
  };
}

/** The same results, each with the note of its entry where there is one. */
export function withNotes(source: ResultSource): ResultSource {
  let among: ListKind | undefined;
  const entriesOf = async (chunk: number): Promise<readonly string[]> =>
    chunkEntries(unpackChunk(there(await source.content(chunk))));
  const kindOf = async (): Promise<ListKind> => {
    let balance = 0;
    for (let chunk = 0; chunk < source.chunks; chunk += 1) {
      balance += addressBalance(await entriesOf(chunk));
    }
    return balance > 0 ? "addresses" : "anything";
  };
  return {
    ...source,
    async results(chunk) {
      const results = await source.results(chunk);
      if (results === undefined) return undefined;
      among ??= await kindOf();
      const entries = await entriesOf(chunk);
      return results.map((text, at) => noted(text, entries[at] ?? "", among ?? "anything"));
    },
  };
}

const MALFORMED = '{"format":false';

/** Most results need no note, which their text and the entry show without parsing. */
function noted(result: string, entry: string, among: ListKind): string {
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

/**
 * Results one after the other with one chunk of them in memory, and what later spellings come back to.
 * New entries are asked for in ascending order; of older ones only those in `wantedAgain`.
 */
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

  async at(entry: number): Promise<string> {
    while (chunkOf(entry) > this.#chunk) await this.#next();
    const result = this.#results[entry - this.#first] ?? this.#kept.get(entry);
    return there(result);
  }

  async #next(): Promise<void> {
    this.#first += this.#results.length;
    this.#chunk += 1;
    this.#results = there(await this.#source.results(this.#chunk));
    for (const [index, result] of this.#results.entries()) {
      const entry = this.#first + index;
      if (this.#wantedAgain.has(entry)) this.#kept.set(entry, result);
    }
  }
}

/** Entries that are asked for again when their chunk has been left behind. */
class Repeats {
  readonly entries = new Set<number>();
  #newest = -1;

  note(entry: number): void {
    if (entry > this.#newest) this.#newest = entry;
    else if (chunkOf(entry) < chunkOf(this.#newest)) this.entries.add(entry);
  }
}

/** Every distinct spelling in submission order with its entry's result, a chunk a page. */
export async function* spelledResults(
  source: ResultSource,
): AsyncGenerator<readonly SpelledResult[]> {
  const repeats = new Repeats();
  for (let number = 0; number < source.chunks; number += 1) {
    const chunk = unpackChunk(there(await source.content(number)));
    for (const index of chunk.spellings.keys()) repeats.note(entryAt(chunk, index));
  }
  const cursor = new Cursor(source, repeats.entries);
  for (let number = 0; number < source.chunks; number += 1) {
    const chunk = unpackChunk(there(await source.content(number)));
    const page: SpelledResult[] = [];
    for (const [index, spelling] of chunk.spellings.entries()) {
      page.push({ spelling, result: await cursor.at(entryAt(chunk, index)) });
    }
    yield page;
  }
}

/** Where the rows of an uploaded table are. */
export interface RowSource {
  readonly pages: number;
  page(number: number): Promise<TablePage | undefined>;
}

/** The rows of an uploaded table in the file's order, each with its entry's result. */
export async function* rowResults(
  source: ResultSource,
  rows: RowSource,
): AsyncGenerator<readonly RowResult[]> {
  const repeats = new Repeats();
  for (let number = 0; number < rows.pages; number += 1) {
    for (const entry of there(await rows.page(number)).entries) repeats.note(entry);
  }
  const cursor = new Cursor(source, repeats.entries);
  for (let number = 0; number < rows.pages; number += 1) {
    const page = there(await rows.page(number));
    const made: RowResult[] = [];
    for (const [index, cells] of page.rows.entries()) {
      const entry = page.entries[index] ?? -1;
      made.push(entry < 0 ? { cells } : { cells, result: await cursor.at(entry) });
    }
    yield made;
  }
}
