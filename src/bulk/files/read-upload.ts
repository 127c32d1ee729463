import { inSlices, nextSlice } from "../../base/slices.ts";
import { splitBatch } from "../../core/batch/batch-chunk.ts";
import { EntryReader } from "../../core/batch/batch.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import type { StoredRow, TableRows } from "../jobs/pack-batch.ts";
import { badUpload, uploadTooLong } from "../../base/refusals.ts";
import type { BulkFile, FileFactsJson } from "../jobs/bulk-shapes.ts";
import type { ListRow } from "../../core/batch/list-table.ts";
import { type FileSlices, type ListOptions, readListFile, type ReadShape } from "./list-file.ts";

/** Most entries of a file before de-duplication: what 20 MB of one-letter lines cost would starve others. */
export const UPLOAD_MAX_ENTRIES = 1_000_000;

const ROWS_LEAST = 100_000;
const ROWS_AN_ENTRY = 10;

export interface UploadOptions extends ListOptions {
  readonly entriesMax: number | null;
}

/** Refuses with 400 what cannot be read, with 422 too many entries; reads to the end, for 400 comes first. */
export async function readUpload(slices: FileSlices, options: UploadOptions): Promise<BulkFile> {
  const upload = new Upload(options.entriesMax ?? Infinity);
  try {
    for await (const { shape, rows } of readListFile(slices, options)) {
      upload.shape = shape;
      for (const row of rows) {
        upload.take(row);
        if (upload.reader.isPauseDue()) await nextSlice();
      }
    }
  } catch (error) {
    throw error instanceof TableFault ? badUpload(error.message) : error;
  }
  return await upload.end();
}

const REASONS_MAX = 20;

const PAGE_UNITS = 65_536;

const utf8 = new TextEncoder();

/** The rows of a file with their entries, limited as they come. They wait in pages outside of the heap. */
class Upload {
  readonly reader: EntryReader;
  shape: ReadShape | undefined;
  readonly #reasons: string[] = [];
  readonly #rowsMax: number;
  #rows = 0;
  #spoilt = 0;
  #pages: TableRows[] = [];
  #page: StoredRow[] = [];
  #entries: number[] = [];
  #units = 0;

  constructor(uniqueMax: number) {
    this.reader = new EntryReader(uniqueMax);
    this.#rowsMax = Math.min(UPLOAD_MAX_ENTRIES, Math.max(ROWS_LEAST, ROWS_AN_ENTRY * uniqueMax));
  }

  take({ cells, entries, readAs, reason }: ListRow): void {
    this.#rows += 1;
    if (this.#rows > this.#rowsMax && !this.reader.isFarTooLong)
      throw uploadTooLong(this.#rowsMax, "rows");
    if (reason !== undefined) {
      this.#spoilt += 1;
      if (this.#reasons.length < REASONS_MAX) this.#reasons.push(reason);
    }
    for (const entry of entries) this.#entries.push(this.reader.take(entry));
    if (this.reader.total > UPLOAD_MAX_ENTRIES) throw uploadTooLong(UPLOAD_MAX_ENTRIES);
    const count = entries.length;
    const isPlain = count === 1 && readAs === undefined;
    this.#page.push(isPlain ? cells : { cells, count, readAs, reason });
    this.#units += cells.reduce((units, cell) => units + cell.length + 3, 0);
    if (this.#units >= PAGE_UNITS) this.#endPage();
  }

  #endPage(): void {
    const cells = utf8.encode(JSON.stringify(this.#page));
    this.#pages.push({ cells, entries: Int32Array.from(this.#entries) });
    if (this.reader.isFarTooLong) this.#pages = [];
    [this.#page, this.#entries, this.#units] = [[], [], 0];
  }

  async end(): Promise<BulkFile> {
    if (this.reader.total === 0) {
      throw badUpload(["The file has no entries.", ...this.#reasons.slice(0, 1)].join(" "));
    }
    if (this.#page.length > 0) this.#endPage();
    const split = await inSlices(splitBatch(this.reader.batch()));
    if ("kind" in split) return { split };
    const { header = [], delimiter = "," } = this.shape ?? {};
    const table = { header, delimiter, pages: this.#pages };
    return { split, table, facts: this.#facts() };
  }

  #facts(): FileFactsJson {
    const { encoding = "", column = "", others = [], sheet, otherSheets = [] } = this.shape ?? {};
    return {
      encoding,
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
