import { splitBatch } from "../core/batch/batch-chunk.ts";
import { readPieces } from "../core/batch/batch.ts";
import { Spellings, spellingsMax } from "../core/batch/count-spellings.ts";
import { TableFault } from "../core/batch/entry-cell.ts";
import type { StoredRow, TableRows } from "./batches-store.ts";
import { badUpload, uploadTooLong } from "../base/refusals.ts";
import type { BulkFile, FileFacts } from "./bulk.ts";
import {
  FILE_MAX_OCTETS,
  type FileSlices,
  type ListOptions,
  type ListPage,
  readListFile,
  type ReadShape,
} from "./list-file.ts";

export const UPLOAD_MAX_OCTETS = FILE_MAX_OCTETS;

/** Most entries of a file before de-duplication: what 20 MB of one-letter lines cost would starve others. */
export const UPLOAD_MAX_ENTRIES = 1_000_000;

export interface UploadOptions extends ListOptions {
  readonly entriesMax: number | null;
}

/** What is left to do once a file was read: its entries are parsed and packed, in slices. */
type UploadSplit = Generator<undefined, BulkFile>;

/** Refuses with 400 what cannot be read, with 422 too many entries; reads to the end, for 400 comes first. */
export async function readUpload(slices: FileSlices, options: UploadOptions): Promise<UploadSplit> {
  const entries = new Entries(options);
  try {
    for await (const page of readListFile(slices, options)) entries.take(page);
  } catch (error) {
    throw error instanceof TableFault ? badUpload(error.message) : error;
  }
  return entries.split();
}

const REASONS_MAX = 20;

/** The rows of a file with their entries, limited as they come. */
class Entries {
  readonly #uniqueMax: number;
  readonly #spellings: Spellings;
  readonly #pages = new TablePages();
  readonly #reasons: string[] = [];
  #shape: ReadShape | undefined;
  #total = 0;
  #rows = 0;
  #spoilt = 0;

  constructor({ entriesMax }: UploadOptions) {
    this.#uniqueMax = entriesMax ?? Infinity;
    this.#spellings = new Spellings(spellingsMax(this.#uniqueMax));
  }

  take({ shape, rows }: ListPage): void {
    this.#shape = shape;
    this.#rows += rows.length;
    for (const { cells, entries, readAs, reason } of rows) {
      if (reason !== undefined) {
        this.#spoilt += 1;
        if (this.#reasons.length < REASONS_MAX) this.#reasons.push(reason);
      }
      this.#total += entries.length;
      if (this.#total > UPLOAD_MAX_ENTRIES) throw uploadTooLong(UPLOAD_MAX_ENTRIES);
      const numbers = entries.map((entry) => this.#spellings.add(entry));
      if (this.#spellings.areTooMany) {
        this.#pages.clear();
        continue;
      }
      const isPlain = entries.length === 1 && readAs === undefined;
      const count = entries.length;
      const odd = {
        cells,
        count,
        ...(readAs !== undefined && { readAs }),
        ...(reason !== undefined && { reason }),
      };
      this.#pages.add(isPlain ? cells : odd, numbers);
    }
  }

  split(): UploadSplit {
    if (this.#total === 0) {
      throw badUpload(["The file has no entries.", ...this.#reasons.slice(0, 1)].join(" "));
    }
    return this.#split();
  }

  *#split(): UploadSplit {
    const { count, areTooMany } = this.#spellings;
    if (areTooMany) return { split: { kind: "too_many", count } };
    const batch = yield* readPieces(this.#spellings.all(), this.#uniqueMax);
    if (batch.isCutShort) return { split: { kind: "too_many", count } };
    if (batch.unique > this.#uniqueMax) return { split: { kind: "too_many", count: batch.unique } };
    const split = yield* splitBatch({ ...batch, total: this.#total });
    const pages = yield* this.#pages.withEntries(batch.entryOf);
    return { split, table: { header: this.#shape?.header ?? [], pages }, facts: this.#facts() };
  }

  #facts(): FileFacts {
    const { column = "", others = [], sheet, otherSheets = [] } = this.#shape ?? {};
    return {
      column,
      ...(sheet !== undefined && { sheet }),
      other_columns: others,
      ...(sheet !== undefined && { other_sheets: otherSheets }),
      rows: this.#rows,
      rows_with_reason: this.#spoilt,
      reasons: this.#reasons,
    };
  }
}

const PAGE_UNITS = 65_536;

const utf8 = new TextEncoder();

/** The rows of an uploaded table, in pages, outside of the heap. */
class TablePages {
  #pages: TableRows[] = [];
  #rows: StoredRow[] = [];
  #spellings: number[] = [];
  #units = 0;

  /** `spellings`: the numbers of its entries' spellings. */
  add(row: StoredRow, spellings: readonly number[]): void {
    const cells = "cells" in row ? row.cells : row;
    this.#rows.push(row);
    this.#spellings.push(...spellings);
    this.#units += cells.reduce((units, cell) => units + cell.length + 3, 0);
    if (this.#units >= PAGE_UNITS) this.#end();
  }

  clear(): void {
    this.#pages = [];
    this.#begin();
  }

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
