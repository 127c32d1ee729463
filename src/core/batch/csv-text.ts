/** What a spreadsheet takes for the start of a formula, also behind blanks and marks that it drops. */
const FORMULA_START = /^(?:[\t\r\n]|[\s\u200b-\u200f\u2060\ufeff]*[=+\-@\uff0b\uff0d\uff1d\uff20])/;

const NEEDS_QUOTES = /["\r\n,;\t|]/;

/** One line of CSV (RFC 4180), its line break included; a cell that begins like a formula gets a `'`. */
export function csvLine(cells: readonly string[], delimiter = ","): string {
  return `${cells.map(csvCell).join(delimiter)}\r\n`;
}

function csvCell(text: string): string {
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
