import {
  columnNames,
  type EntryColumn,
  entryOfCell,
  findColumn,
  SAMPLE_ROWS,
  squareRow,
} from "./csv-column.ts";

export interface TableRow {
  /** One line; "" when the cell is blank. */
  readonly entry: string;
  /** As many as the header has. */
  readonly cells: readonly string[];
}

/**
 * Turns the rows of a file into those of a table with one column of entries, as they come. Throws a
 * `TableFault` for a table without such a column, and for a row with more cells than the first.
 */
export class EntryTable {
  readonly #wanted: string | undefined;
  #column: EntryColumn | undefined;
  #header: readonly string[] = [];
  #sample: (readonly string[])[] = [];
  #rowNumber = 0;

  /** `wanted`: name or number of the column; absent: found by what it holds. */
  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  /** Names of all columns; none before the first rows came out. */
  get header(): readonly string[] {
    return this.#header;
  }

  /** The rows that are known to be some now: none until there are enough to find the column. */
  add(rows: readonly (readonly string[])[]): readonly TableRow[] {
    if (this.#column !== undefined) return this.#read(this.#column, rows);
    this.#sample.push(...rows);
    return this.#sample.length < SAMPLE_ROWS ? [] : this.#begin();
  }

  /** What a short table still holds back. */
  end(): readonly TableRow[] {
    return this.#column === undefined && this.#sample.length > 0 ? this.#begin() : [];
  }

  #begin(): readonly TableRow[] {
    const rows = this.#sample;
    this.#sample = [];
    const column = findColumn(rows, this.#wanted);
    this.#column = column;
    this.#header = columnNames(rows[0] ?? [], column);
    this.#rowNumber = column.hasHeader ? 1 : 0;
    return this.#read(column, column.hasHeader ? rows.slice(1) : rows);
  }

  #read({ index }: EntryColumn, rows: readonly (readonly string[])[]): readonly TableRow[] {
    return rows.map((row) => {
      this.#rowNumber += 1;
      const cells = squareRow(row, this.#header.length, this.#rowNumber);
      return { entry: entryOfCell(cells[index] ?? ""), cells };
    });
  }
}
