import { TableFault } from "./table-fault.ts";

/** Where the entries of a table are. */
export interface EntryColumn {
  /** From 0. */
  readonly index: number;
  /** Whether the first row names the columns. */
  readonly hasHeader: boolean;
}

/** How many rows `findColumn` wants to see at most. */
export const SAMPLE_ROWS = 20;

/** Something with a dot behind an at sign. Whether it is well-formed is for the validation to say. */
const ADDRESS = /^[^@\s][^@]*@[^@\s]+\.[^@\s]+$/;
/** Letters and digits in at least two labels, the last of letters. */
const DOMAIN = /^(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]+\.?$/u;

/** Longer cells are not entries, and not examined. */
const ENTRY_LIKE_MAX_UNITS = 320;

/**
 * Finds the entries by the column's name, or its number from 1; without one by what the cells look like:
 * the column with the most addresses, or with the most domains where there are no addresses. `rows` are the
 * first of the table, header included. Throws a `TableFault` when there is no such column.
 */
export function findColumn(
  rows: readonly (readonly string[])[],
  name: string | undefined,
): EntryColumn {
  const [first = []] = rows;
  const wanted = name === undefined ? "" : plain(name);
  if (wanted !== "") return namedColumn(first, wanted);
  const index = likeliest(rows, ADDRESS) ?? likeliest(rows, DOMAIN);
  if (index === undefined) {
    throw new TableFault("No column holds addresses or domains; name it with column.");
  }
  return { index, hasHeader: !looksLikeEntry(first[index] ?? "") };
}

function namedColumn(first: readonly string[], wanted: string): EntryColumn {
  const index = first.findIndex((cell) => plain(cell) === wanted);
  if (index >= 0) return { index, hasHeader: true };
  const number = /^[1-9]\d{0,2}$/.test(wanted) ? Number(wanted) - 1 : first.length;
  const cell = first[number];
  if (cell === undefined) throw new TableFault("There is no column of that name.");
  return { index: number, hasHeader: !looksLikeEntry(cell) };
}

/** Whether a cell may be an entry at a glance. */
export function looksLikeEntry(cell: string): boolean {
  const trimmed = cell.trim();
  return looksLike(trimmed, ADDRESS) || looksLike(trimmed, DOMAIN);
}

const plain = (text: string): string => text.trim().toLowerCase();

const looksLike = (cell: string, pattern: RegExp): boolean =>
  cell.length <= ENTRY_LIKE_MAX_UNITS && pattern.test(cell);

/** The first of the columns with the most cells like that. */
function likeliest(rows: readonly (readonly string[])[], pattern: RegExp): number | undefined {
  const counts = new Map<number, number>();
  for (const row of rows.slice(0, SAMPLE_ROWS)) {
    for (const [index, cell] of row.entries()) {
      if (looksLike(cell.trim(), pattern)) counts.set(index, (counts.get(index) ?? 0) + 1);
    }
  }
  const most = Math.max(0, ...counts.values());
  return [...counts.keys()].sort((a, b) => a - b).find((index) => counts.get(index) === most);
}

/** A name for every column: from the header, or "column_1" and so on. */
export function columnNames(first: readonly string[], { hasHeader }: EntryColumn): string[] {
  return first.map((cell, index) => (hasHeader ? cell : `column_${String(index + 1)}`));
}

/**
 * The row with as many cells as there are columns: short ones are filled up. `number` counts rows from 1,
 * the header included. Throws a `TableFault` for more cells than columns, unless they are empty.
 */
export function squareRow(
  row: readonly string[],
  columns: number,
  number: number,
): readonly string[] {
  if (row.length === columns) return row;
  if (row.slice(columns).some((cell) => cell !== "")) {
    throw new TableFault(`Row ${String(number)} has more cells than the first row.`);
  }
  return Array.from({ length: columns }, (_, index) => row[index] ?? "");
}

/** The entry of a cell: always one line. */
export const entryOfCell = (cell: string): string => cell.replace(/[\r\n]+/g, " ").trim();
