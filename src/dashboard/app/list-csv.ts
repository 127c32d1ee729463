import type { ListRow } from "../api/shapes.ts";
import { rowReason, rowVerdict } from "../words/list-row.ts";
import { csvLine, entryOf, type Source } from "./list-file.ts";

/** Whether it came from a table; a plain list has one column without a name. */
export const hasColumns = (source: Source | undefined): source is Source =>
  (source?.table.header.length ?? 0) > 1;

const ADDED = ["verdict", "confidence", "signals", "reason"];

function verdictCells(row: ListRow | undefined): readonly string[] {
  if (row === undefined) return ADDED.map(() => "");
  const verdict = rowVerdict(row).words.replace(/ \d+$/, "");
  return [verdict, String(row.confidence), row.signals.join(" "), rowReason(row)];
}

/**
 * Every row of the file with its verdict; without the file, every entry. With `only`, rows of those entries alone:
 * rows without an entry stay away then.
 */
export function listCsv(
  { source, rows }: { readonly source: Source | undefined; readonly rows: readonly ListRow[] },
  only: readonly ListRow[] = rows,
): readonly string[] {
  if (source === undefined) {
    const lines = only.map((row) => csvLine([row.entry, ...verdictCells(row)]));
    return marked([csvLine(["Entry", ...ADDED]), ...lines]);
  }
  const byEntry = new Map(only.map((row) => [row.entry, row]));
  const { table, at } = source;
  const { delimiter } = table;
  const lines: string[] = [];
  for (const cells of table.rows) {
    const row = byEntry.get(entryOf(cells, at));
    if (row === undefined && only !== rows) continue;
    const padded = table.header.map((_, column) => cells[column] ?? "");
    lines.push(csvLine([...padded, ...verdictCells(row)], delimiter));
  }
  return marked([csvLine([...table.header, ...ADDED], delimiter), ...lines]);
}

/** Without it spreadsheets take UTF-8 for an old code page as soon as a letter is not ASCII. */
const BYTE_ORDER_MARK = "\ufeff";
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

const marked = (lines: readonly string[]): readonly string[] =>
  lines.every(isAscii) ? lines : [BYTE_ORDER_MARK, ...lines];
