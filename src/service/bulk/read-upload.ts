import { utf8Octets } from "../../core/address/address.ts";
import { EntryTable, type TableRow } from "../../core/batch/entry-table.ts";
import { TableFault } from "../../core/batch/table-fault.ts";
import type { TablePageText } from "../../ports/bulk/batches.ts";
import { badUpload, uploadTooLarge, uploadTooLong } from "../refusals.ts";
import type { BulkRequest } from "./bulk.ts";
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
}

/** What of a `BulkRequest` comes out of a file. */
export type UploadedEntries = Pick<BulkRequest, "text" | "maxOctets" | "layout" | "table">;

/**
 * Reads an uploaded file. Refuses with 400 what cannot be read, with 413 more than `UPLOAD_MAX_OCTETS` and with 422
 * more than `UPLOAD_MAX_ENTRIES`. Works slice by slice; the caller's iterable sets the pace.
 */
export async function readUpload(
  slices: FileSlices,
  options: UploadOptions,
): Promise<UploadedEntries> {
  try {
    return options.kind === "list" ? await readList(slices) : await readTable(slices, options);
  } catch (error) {
    throw error instanceof TableFault ? badUpload(error.message) : error;
  }
}

async function readList(slices: FileSlices): Promise<UploadedEntries> {
  const entries = new EntryText("");
  for await (const piece of fileText(slices)) entries.add(piece, piece.match(ENTRIES)?.length ?? 0);
  return { text: entries.text(), maxOctets: UPLOAD_MAX_OCTETS, layout: "list" };
}

const ENTRIES = /[^ ,\t\r\n]+/g;

/** The text of a bulk request, limited as it grows. */
class EntryText {
  readonly #separator: string;
  readonly #pieces: string[] = [];
  #octets = 0;
  #entries = 0;

  constructor(separator: string) {
    this.#separator = separator;
  }

  add(piece: string, entries: number): void {
    this.#entries += entries;
    if (this.#entries > UPLOAD_MAX_ENTRIES) throw uploadTooLong(UPLOAD_MAX_ENTRIES);
    this.#octets += utf8Octets(piece) + (this.#pieces.length === 0 ? 0 : this.#separator.length);
    if (this.#octets > UPLOAD_MAX_OCTETS) throw uploadTooLarge(UPLOAD_MAX_OCTETS, undefined);
    this.#pieces.push(piece);
  }

  text(): string {
    return this.#pieces.join(this.#separator);
  }
}

async function readTable(slices: FileSlices, { column }: UploadOptions): Promise<UploadedEntries> {
  const table = new EntryTable(column);
  const entries = new EntryText("\n");
  const pages = new Pages();
  const take = ({ entry, cells }: TableRow): void => {
    entries.add(entry, entry === "" ? 0 : 1);
    pages.add(cells);
  };
  for await (const rows of csvRows(fileText(slices))) table.add(rows).forEach(take);
  table.end().forEach(take);
  const { header } = table;
  return {
    text: entries.text(),
    maxOctets: UPLOAD_MAX_OCTETS,
    layout: "lines",
    table: { header, pages: pages.all() },
  };
}

/** Cells of one page in UTF-16 code units, about. */
const PAGE_UNITS = 65_536;

/** Rows as they are stored. */
class Pages {
  readonly #pages: TablePageText[] = [];
  #rows: (readonly string[])[] = [];
  #units = 0;

  add(cells: readonly string[]): void {
    this.#rows.push(cells);
    this.#units += cells.reduce((units, cell) => units + cell.length + 3, 0);
    if (this.#units >= PAGE_UNITS) this.#end();
  }

  all(): readonly TablePageText[] {
    if (this.#rows.length > 0) this.#end();
    return this.#pages;
  }

  #end(): void {
    this.#pages.push({ rows: this.#rows.length, content: JSON.stringify(this.#rows) });
    this.#rows = [];
    this.#units = 0;
  }
}
