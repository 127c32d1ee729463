/**
 * What a spreadsheet takes for the start of a formula, also in other widths and behind anything that is not seen: blanks,
 * controls, marks of direction and all else that is drawn as nothing.
 */
const FORMULA_START =
  /^(?:[\t\r\n]|[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/u;

/** Whether a spreadsheet may take the cell for a formula. */
export const isLikeFormula = (cell: string): boolean => FORMULA_START.test(cell);

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
  const safe = isLikeFormula(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
