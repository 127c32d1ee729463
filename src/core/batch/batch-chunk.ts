import { type Batch, EntryReader, piecesOf, type TooMany } from "./batch.ts";
import type { ValidationResult } from "../validate/result.ts";

/** What an entry counts as; the first that applies, in this order: format, disposable, dns, else valid. */
export type EntryClass = "invalidFormat" | "disposable" | "invalidDns" | "valid";

export type Tally = Readonly<Record<EntryClass, number>>;

export const EMPTY_TALLY: Tally = { invalidFormat: 0, disposable: 0, invalidDns: 0, valid: 0 };

/** Inconclusive DNS counts as `invalidDns`, for `dns` is false then too. */
export function entryClassOf(
  result: Pick<ValidationResult, "format" | "disposable" | "dns">,
): EntryClass {
  if (!result.format) return "invalidFormat";
  if (result.disposable) return "disposable";
  return result.dns ? "valid" : "invalidDns";
}

export function sumOfTallies(tallies: Iterable<Tally>): Tally {
  const sums = { ...EMPTY_TALLY };
  for (const one of tallies) {
    for (const kind of Object.keys(sums) as EntryClass[]) sums[kind] += one[kind];
  }
  return sums;
}

export const entriesIn = ({ invalidFormat, disposable, invalidDns, valid }: Tally): number =>
  invalidFormat + disposable + invalidDns + valid;

export function tally(kinds: Iterable<EntryClass>): Tally {
  const counts = { ...EMPTY_TALLY };
  for (const kind of kinds) counts[kind] += 1;
  return counts;
}

export const CHUNK_ENTRIES = 500;

export interface Chunk {
  readonly first: number;
  /** Spellings in submission order, of its own entries and, again, of earlier ones. */
  readonly spellings: readonly string[];
  /** The entry of each spelling; absent when spelling n is the first of entry `first + n`. A forgotten entry has none. */
  readonly entryOf?: readonly number[];
}

export interface PackedChunk {
  /** Entries whose first spelling is in it; at least 1, at most `CHUNK_ENTRIES`. */
  readonly entries: number;
  readonly content: string;
}

export interface SplitBatch {
  readonly total: number;
  readonly unique: number;
  readonly chunks: readonly PackedChunk[];
}

/** Linear in `text`; a thread with other duties does something else at each yield. */
export const splitText = (text: string, uniqueMax?: number): Slices<SplitBatch | TooMany> =>
  splitPieces(piecesOf(text), uniqueMax);

type Slices<T> = Generator<undefined, T>;

export function* splitPieces(
  pieces: Iterable<string | undefined>,
  uniqueMax?: number,
): Slices<SplitBatch | TooMany> {
  const reader = new EntryReader(uniqueMax);
  for (const piece of pieces) {
    if (piece !== undefined) reader.take(piece);
    if (piece === undefined || reader.isPauseDue()) yield;
  }
  return yield* splitBatch(reader.batch());
}

export function* splitBatch(batch: Batch | TooMany): Slices<SplitBatch | TooMany> {
  if ("kind" in batch) return batch;
  const chunks: PackedChunk[] = [];
  let start = 0;
  for (let first = 0; first < batch.unique; first += CHUNK_ENTRIES) {
    const next = Math.min(first + CHUNK_ENTRIES, batch.unique);
    let end = start; // the place of the first spelling of entry `next`, or the end
    while (end < batch.entryOf.length && batch.entryOf[end] !== next) end += 1;
    const spellings = batch.spellings.slice(start, end);
    const entryOf = batch.entryOf.slice(start, end);
    const isPlain = entryOf.every((entry, index) => entry === first + index);
    const chunk: Chunk = { first, spellings, ...(!isPlain && { entryOf }) };
    chunks.push({ entries: next - first, content: JSON.stringify(chunk) });
    start = end;
    yield;
  }
  return { total: batch.total, unique: batch.unique, chunks };
}

export function unpackChunk(content: string): Chunk {
  return JSON.parse(content) as Chunk;
}

export const chunkOf = (entry: number): number => Math.floor(entry / CHUNK_ENTRIES);

export function entryAt(chunk: Chunk, index: number): number {
  return chunk.entryOf?.[index] ?? chunk.first + index;
}

/** Places of the spellings that are the first of their entries. */
function firstSpellings({ first, spellings, entryOf }: Chunk): readonly number[] {
  if (entryOf === undefined) return [...spellings.keys()];
  let last = first - 1;
  return [...spellings.keys()].filter((at) => {
    const entry = entryOf[at] ?? last;
    const isFirst = entry > last;
    if (isFirst) last = entry;
    return isFirst;
  });
}

export const chunkEntries = (chunk: Chunk): readonly string[] =>
  chunk.entryOf === undefined
    ? chunk.spellings
    : firstSpellings(chunk).map((at) => chunk.spellings[at] ?? "");

/** Numbers of its own entries, in their order. Those of an entry that was taken out are missing. */
export const chunkNumbers = (chunk: Chunk): readonly number[] =>
  firstSpellings(chunk).map((at) => entryAt(chunk, at));

/** Entries keep their numbers and chunks. */
export function withoutEntries(chunk: Chunk, gone: ReadonlySet<number>): Chunk {
  const kept = [...chunk.spellings.keys()].filter((at) => !gone.has(entryAt(chunk, at)));
  return {
    first: chunk.first,
    spellings: kept.map((at) => chunk.spellings[at] ?? ""),
    entryOf: kept.map((at) => entryAt(chunk, at)),
  };
}
