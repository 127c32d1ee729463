import { utf8Octets } from "../../core/address/address.ts";
import { splitBatch } from "../../core/batch/batch-chunk.ts";
import { readPieces } from "../../core/batch/batch.ts";
import { EntryTable, type TableRow } from "../../core/batch/entry-table.ts";
import { Spellings, spellingsMax } from "../../core/batch/spellings.ts";
import { TableFault } from "../../core/batch/table-fault.ts";
import type { TableRows } from "../../ports/bulk/batches.ts";
import { badUpload, uploadTooLarge, uploadTooLong } from "../refusals.ts";
import type { BulkFile } from "./bulk.ts";
import { csvRows, type FileSlices, fileText } from "./file-text.ts";

/** Largest file, in octets; its list or column may fill it. */
export const UPLOAD_MAX_OCTETS = 20_000_000;

/** Most entries of a file before de-duplication: what 20 MB of one-letter lines cost would starve others. */
const UPLOAD_MAX_ENTRIES = 1_000_000;

/** How an upload is to be read. */
export interface UploadOptions {
  /** `list`: plain text, split as every bulk list. `table`: CSV. */
  readonly kind: "list" | "table";
  /** Name or number (from 1) of the column with the entries; absent: found by what it holds. */
  readonly column?: string;
  /** Unique entries that it may hold; null: any number. */
  readonly entriesMax: number | null;
}

/** What is left to do once a file was read: its entries are parsed and packed, in slices. */
export type UploadSplit = Generator<undefined, BulkFile>;

/**
 * Reads an uploaded file. Refuses with 400 what cannot be read or is empty, with 413 more than `UPLOAD_MAX_OCTETS` and
 * with 422 more than `UPLOAD_MAX_ENTRIES`. Works slice by slice; the caller's iterable sets the pace. A file with far
 * too many entries is read to its end, because what cannot be read is refused first, but nothing of it is kept.
 */
export async function readUpload(slices: FileSlices, options: UploadOptions): Promise<UploadSplit> {
  try {
    return options.kind === "list"
      ? await readList(slices, options)
      : await readTable(slices, options);
  } catch (error) {
    throw error instanceof TableFault ? badUpload(error.message) : error;
  }
}

/** Ends an entry of a list. */
const END = /[ ,\t\r\n]/;

async function readList(slices: FileSlices, options: UploadOptions): Promise<UploadSplit> {
  const entries = new Entries(options);
  let last = "";
  for await (const text of fileText(slices)) {
    entries.measure(text);
    if (!END.test(text)) {
      last += text; // not searched again: an entry may have many slices
      continue;
    }
    const pieces = (last + text).split(END);
    last = pieces.pop() ?? "";
    for (const piece of pieces) entries.add(piece);
  }
  entries.add(last);
  return entries.split();
}

async function readTable(slices: FileSlices, options: UploadOptions): Promise<UploadSplit> {
  const rows = new EntryTable(options.column);
  const entries = new Entries(options);
  const pages = new TablePages();
  const take = ({ entry, cells }: TableRow): void => {
    entries.measure(entry);
    const spelling = entries.add(entry);
    if (entries.areTooMany) pages.clear();
    else pages.add(cells, spelling);
  };
  for await (const some of csvRows(fileText(slices))) rows.add(some).forEach(take);
  rows.end().forEach(take);
  return entries.split({ header: rows.header, pages });
}

/** The entries of a file, limited as they come. */
class Entries {
  readonly #uniqueMax: number;
  readonly #spellings: Spellings;
  /** Between two entries of a table there is a line break. */
  readonly #separator: number;
  #octets: number;
  #total = 0;
  #isBlank = true;

  constructor({ kind, entriesMax }: UploadOptions) {
    this.#uniqueMax = entriesMax ?? Infinity;
    this.#spellings = new Spellings(spellingsMax(this.#uniqueMax));
    this.#separator = kind === "table" ? 1 : 0;
    this.#octets = -this.#separator;
  }

  get areTooMany(): boolean {
    return this.#spellings.areTooMany;
  }

  measure(text: string): void {
    this.#octets += utf8Octets(text) + this.#separator;
    if (this.#octets > UPLOAD_MAX_OCTETS) throw uploadTooLarge(UPLOAD_MAX_OCTETS, undefined);
    this.#isBlank &&= text.trim() === "";
  }

  /** Returns the number of the entry's spelling; -1 for a blank one, or when there are too many. */
  add(entry: string): number {
    if (entry === "") return -1;
    this.#total += 1;
    if (this.#total > UPLOAD_MAX_ENTRIES) throw uploadTooLong(UPLOAD_MAX_ENTRIES);
    return this.#spellings.add(entry);
  }

  /** When all were added. */
  split(table?: { readonly header: readonly string[]; readonly pages: TablePages }): UploadSplit {
    if (this.#isBlank) throw badUpload("The file has no entries.");
    return this.#split(table);
  }

  *#split(table: Parameters<Entries["split"]>[0]): UploadSplit {
    const { count } = this.#spellings;
    if (this.areTooMany) return { split: { kind: "too_many", count } };
    const batch = yield* readPieces(this.#spellings.all(), this.#uniqueMax);
    if (batch.isCutShort) return { split: { kind: "too_many", count } };
    if (batch.unique > this.#uniqueMax) return { split: { kind: "too_many", count: batch.unique } };
    const split = yield* splitBatch({ ...batch, total: this.#total });
    if (table === undefined) return { split };
    const pages = yield* table.pages.withEntries(batch.entryOf);
    return { split, table: { header: table.header, pages } };
  }
}

/** Cells of one page in UTF-16 code units, about. */
const PAGE_UNITS = 65_536;

const utf8 = new TextEncoder();

/** The rows of an uploaded table, in pages, outside of the heap. */
class TablePages {
  #pages: TableRows[] = [];
  #rows: (readonly string[])[] = [];
  #spellings: number[] = [];
  #units = 0;

  /** `spelling`: the number of its entry's spelling, -1 for a blank one. */
  add(cells: readonly string[], spelling: number): void {
    this.#rows.push(cells);
    this.#spellings.push(spelling);
    this.#units += cells.reduce((units, cell) => units + cell.length + 3, 0);
    if (this.#units >= PAGE_UNITS) this.#end();
  }

  clear(): void {
    this.#pages = [];
    this.#begin();
  }

  /** All pages, in slices. `entryOf`: for each spelling its entry. */
  *withEntries(entryOf: readonly number[]): Generator<undefined, readonly TableRows[]> {
    if (this.#rows.length > 0) this.#end();
    for (const { entries } of this.#pages) {
      for (const [row, spelling] of entries.entries()) entries[row] = entryOf[spelling] ?? -1;
      yield;
    }
    return this.#pages;
  }

  #end(): void {
    const cells = utf8.encode(JSON.stringify(this.#rows));
    this.#pages.push({ cells, entries: Int32Array.from(this.#spellings) });
    this.#begin();
  }

  #begin(): void {
    this.#rows = [];
    this.#spellings = [];
    this.#units = 0;
  }
}
