import { utf8Octets } from "../../core/address.ts";
import {
  columnNames,
  type EntryColumn,
  entryOfCell,
  findColumn,
  SAMPLE_ROWS,
  squareRow,
} from "../../core/csv-column.ts";
import { TableFault } from "../../core/table-fault.ts";
import type { TablePageText } from "../../ports/batches.ts";
import { badUpload, bulkTooLarge } from "../refusals.ts";
import type { BulkRequest, UploadedTable } from "./bulk.ts";
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
  const builder = new TableBuilder(column);
  for await (const rows of csvRows(fileText(slices))) {
    for (const row of rows) builder.add(row);
  }
  return builder.finish();
}

/** Cells of one page in UTF-16 code units, about. */
const PAGE_UNITS = 65_536;

class TableBuilder {
  readonly #wanted: string | undefined;
  readonly #entries = new EntryText("\n");
  readonly #pages: TablePageText[] = [];
  #column: EntryColumn | undefined;
  #header: readonly string[] = [];
  /** Before the column is known: the first rows of the file. Afterwards: the page in the making. */
  #rows: (readonly string[])[] = [];
  #pageUnits = 0;
  #rowNumber = 0;

  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  add(row: readonly string[]): void {
    if (this.#column !== undefined) {
      this.#take(row);
      return;
    }
    this.#rows.push(row);
    if (this.#rows.length >= SAMPLE_ROWS) this.#decide();
  }

  finish(): UploadedEntries {
    if (this.#column === undefined && this.#rows.length > 0) this.#decide();
    this.#endPage();
    const table: UploadedTable = { header: this.#header, pages: this.#pages };
    return { text: this.#entries.text(), layout: "lines", table };
  }

  #decide(): void {
    const rows = this.#rows;
    const column = findColumn(rows, this.#wanted);
    this.#column = column;
    this.#header = columnNames(rows[0] ?? [], column);
    this.#rows = [];
    this.#rowNumber = column.hasHeader ? 1 : 0;
    for (const row of column.hasHeader ? rows.slice(1) : rows) this.#take(row);
  }

  #take(row: readonly string[]): void {
    this.#rowNumber += 1;
    const cells = squareRow(row, this.#header.length, this.#rowNumber);
    this.#entries.add(entryOfCell(cells[this.#column?.index ?? 0] ?? ""));
    this.#rows.push(cells);
    this.#pageUnits += cells.reduce((units, cell) => units + cell.length + 3, 0);
    if (this.#pageUnits >= PAGE_UNITS) this.#endPage();
  }

  #endPage(): void {
    if (this.#rows.length === 0) return;
    this.#pages.push({ rows: this.#rows.length, content: JSON.stringify(this.#rows) });
    this.#rows = [];
    this.#pageUnits = 0;
  }
}
