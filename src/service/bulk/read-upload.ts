import { utf8Octets } from "../../core/address/address.ts";
import { EntryTable, type TableRow } from "../../core/batch/entry-table.ts";
import { TableFault } from "../../core/batch/table-fault.ts";
import type { TablePageText } from "../../ports/bulk/batches.ts";
import { badUpload, bulkTooLarge } from "../refusals.ts";
import type { BulkRequest } from "./bulk.ts";
import { csvRows, type FileSlices, fileText } from "./file-text.ts";
import { BULK_MAX_OCTETS } from "./submit.ts";

/** Largest file that is read, in octets. */
export const UPLOAD_MAX_OCTETS = 20_000_000;

/** How an upload is to be read. */
export interface UploadOptions {
  /** `list`: plain text, split as every bulk list. `table`: CSV. */
  readonly kind: "list" | "table";
  /** Name or number (from 1) of the column with the entries; absent: found by what it holds. */
  readonly column?: string;
}

/** What of a `BulkRequest` comes out of a file. */
export type UploadedEntries = Pick<BulkRequest, "text" | "layout" | "table">;

/**
 * Reads an uploaded file. Refuses with 400 what cannot be read and with 413 a list or column of more than
 * 2,000,000 octets. Works slice by slice; the caller's iterable sets the pace.
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
  for await (const piece of fileText(slices)) entries.add(piece);
  return { text: entries.text(), layout: "list" };
}

/** The text of a bulk request, watched over as it grows. */
class EntryText {
  readonly #separator: string;
  readonly #pieces: string[] = [];
  #octets = 0;

  constructor(separator: string) {
    this.#separator = separator;
  }

  add(piece: string): void {
    this.#octets += utf8Octets(piece) + (this.#pieces.length === 0 ? 0 : this.#separator.length);
    if (this.#octets > BULK_MAX_OCTETS) throw bulkTooLarge();
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
    entries.add(entry);
    pages.add(cells);
  };
  for await (const rows of csvRows(fileText(slices))) table.add(rows).forEach(take);
  table.end().forEach(take);
  const { header } = table;
  return { text: entries.text(), layout: "lines", table: { header, pages: pages.all() } };
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
