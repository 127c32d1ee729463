import {
  type Chunk,
  chunkEntries,
  chunkNumbers,
  chunkOf,
  entryAt,
} from "../../core/batch/batch-chunk.ts";
import {
  addressBalance,
  entryNote,
  type ListKind,
  withNote,
} from "../../core/batch/result-cells.ts";
import type { FullResult } from "../../core/validate/result.ts";
import type { TablePage } from "./pack-batch.ts";
import type { RowResult, SpelledResult } from "./bulk-shapes.ts";

export interface ResultSource {
  readonly chunks: number;
  chunk(number: number): Promise<Chunk | undefined>;
  results(chunk: number): Promise<readonly string[] | undefined>;
}

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
  const mayNeedNote = among === "addresses" && !entry.includes("@");
  const note = mayNeedNote || result.startsWith(MALFORMED) ? entryNote(entry, among) : undefined;
  if (note === undefined) return result;
  return JSON.stringify(withNote(JSON.parse(result) as FullResult, note));
}

/** A reader that started before the session ended gets no more of it; its answer breaks off. */
function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the session ended while it was read");
  return part;
}

interface FoundResult {
  readonly result: string;
  readonly isDuplicate: boolean;
}

/** Reads the pages in ascending order. Memory holds one chunk, and of earlier chunks the results that later rows repeat. */
async function* foundPages<Page extends { readonly entries: readonly number[] }>(
  source: ResultSource,
  pages: number,
  pageOf: (number: number) => Promise<Page>,
): AsyncGenerator<{ readonly page: Page; readonly found: readonly FoundResult[] }> {
  const wantedAgain = new Set<number>();
  let newest = -1;
  for (let number = 0; number < pages; number += 1) {
    for (const entry of (await pageOf(number)).entries) {
      if (entry > newest) newest = entry;
      else if (chunkOf(entry) < chunkOf(newest)) wantedAgain.add(entry);
    }
  }
  const kept = new Map<number, string>();
  const keepWanted = (of: ReadonlyMap<number, string>): void => {
    for (const [entry, result] of of) if (wantedAgain.has(entry)) kept.set(entry, result);
  };
  let results: ReadonlyMap<number, string> = new Map();
  let chunk = -1;
  newest = -1;
  for (let number = 0; number < pages; number += 1) {
    const page = await pageOf(number);
    const found: FoundResult[] = [];
    for (const entry of page.entries) {
      while (chunk < chunkOf(entry)) {
        chunk += 1;
        results = await numberedResults(source, chunk);
        keepWanted(results);
      }
      const result = there(results.get(entry) ?? kept.get(entry));
      found.push({ result, isDuplicate: entry <= newest });
      newest = Math.max(newest, entry);
    }
    yield { page, found };
  }
}

async function numberedResults(
  source: ResultSource,
  number: number,
): Promise<ReadonlyMap<number, string>> {
  const entries = chunkNumbers(there(await source.chunk(number)));
  const results = there(await source.results(number));
  return new Map(entries.map((entry, at) => [entry, there(results[at])]));
}

export async function* spelledResults(
  plain: ResultSource,
  { isNoted }: { readonly isNoted: boolean },
): AsyncGenerator<readonly SpelledResult[]> {
  const source = isNoted ? await withNotes(plain) : plain;
  const pageOf = async (number: number) => {
    const chunk = there(await source.chunk(number));
    const { spellings } = chunk;
    return { spellings, entries: spellings.map((_, at) => entryAt(chunk, at)) };
  };
  for await (const { page, found } of foundPages(source, source.chunks, pageOf)) {
    yield found.map(({ result, isDuplicate }, at) => ({
      spelling: page.spellings[at] ?? "",
      isDuplicate,
      result,
    }));
  }
}

export async function* rowResults(
  plain: ResultSource,
  pages: number,
  pageOf: (number: number) => Promise<TablePage | undefined>,
): AsyncGenerator<readonly RowResult[]> {
  const source = await withNotes(plain);
  const read = async (number: number): Promise<TablePage> => there(await pageOf(number));
  for await (const { page, found } of foundPages(source, pages, read)) {
    let end = 0;
    yield page.rows.map((row) => {
      const { cells, count, ...note } = "cells" in row ? row : { cells: row, count: 1 };
      const its = found.slice(end, end + count);
      end += count;
      const isDuplicate = count > 0 && its.every((each) => each.isDuplicate);
      return { cells, results: its.map(({ result }) => result), isDuplicate, ...note };
    });
  }
}
