/** What a spreadsheet takes for the start of a formula, also behind blanks and marks that it drops. */
const FORMULA_START = /^(?:[\t\r\n]|[\s\u200b-\u200f\u2060\ufeff]*[=+\-@\uff0b\uff0d\uff1d\uff20])/;

const NEEDS_QUOTES = /["\r\n,;\t|]/;

/** Undefined is an empty cell. */
export type CsvCell = string | number | boolean | undefined;

/** One line of CSV (RFC 4180), its line break included; a text that begins like a formula gets a `'`. */
export const csvLine = (cells: readonly CsvCell[], delimiter?: string): string =>
  `${csvCells(cells, delimiter)}\r\n`;

/** A part of a line. */
export const csvCells = (cells: readonly CsvCell[], delimiter = ","): string =>
  cells.map(csvCell).join(delimiter);

function csvCell(cell: CsvCell): string {
  if (cell === undefined || cell === "") return "";
  if (typeof cell !== "string") return String(cell);
  const safe = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
