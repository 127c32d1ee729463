import type { ListRow } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import { isMisspelt, type Kind, kindOf, rowReason, rowVerdict } from "../words/list-row.ts";
import { csvLine, entryOf, type Source } from "./list-file.ts";

/** Whether it came from a table; a plain list has one column without a name. */
export const hasColumns = (source: Source | undefined): source is Source =>
  (source?.table.header.length ?? 0) > 1;

const ADDED = ["verdict", "confidence", "signals", "reason", "suggestion"];

function verdictCells(row: ListRow | undefined): readonly string[] {
  if (row === undefined) return ADDED.map(() => "");
  const { confidence, signals, meant } = row;
  const { words } = rowVerdict(row);
  return [words, String(confidence), signals.join(" "), rowReason(row), meant];
}

interface Rows {
  readonly source: Source | undefined;
  readonly rows: readonly ListRow[];
}

/**
 * Every row of the file with its verdict; without the file, every entry. With `only`, rows of those entries alone:
 * rows without an entry stay away then.
 */
export function listCsv(
  { source, rows }: Rows,
  only: readonly ListRow[] = rows,
): readonly string[] {
  if (source === undefined) {
    const lines = only.map((row) => csvLine([row.entry, ...verdictCells(row)]));
    return marked([csvLine([t("Entry"), ...ADDED]), ...lines]);
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

/** What a cleaned list keeps. */
export interface Choice {
  readonly good: boolean;
  /** Entries with a suggestion, written as suggested. */
  readonly fixed: boolean;
  readonly unsure: boolean;
  /** Everything else, with its verdict in its own column. */
  readonly rest: boolean;
}

export type Part = keyof Choice;

/** The part of a cleaned list that an entry belongs to: each to one. */
export function partOf(row: ListRow, fixes: ReadonlySet<string>): Part {
  if (fixes.has(row.entry)) return "fixed";
  const kind: Kind = kindOf(row);
  if (kind === "good" && !isMisspelt(row)) return "good";
  return kind === "unsure" ? "unsure" : "rest";
}

/** The rows of a file, each once for each different entry, as a cleaned list has them. */
function cleanedRows(
  { source, rows }: Rows,
  choice: Choice,
  fixes: ReadonlySet<string>,
): readonly (readonly [cells: readonly string[], row: ListRow])[] {
  const wanted = rows.filter((row) => choice[partOf(row, fixes)]);
  return wanted.map((row) => {
    const at = source?.column.rowOf.get(row.entry);
    const cells = at === undefined ? undefined : source?.table.rows[at];
    return [cells ?? [row.entry], row];
  });
}

/** The cleaned list: all columns, fixed entries in place, and verdict, reason and the original beside them. */
export function cleanedCsv(
  list: Rows,
  choice: Choice,
  fixes: ReadonlySet<string>,
): readonly string[] {
  const { source } = list;
  const header = source === undefined ? [t("Entry")] : source.table.header;
  const at = source?.at ?? 0;
  const delimiter = source?.table.delimiter ?? ",";
  const lines = cleanedRows(list, choice, fixes).map(([cells, row]) => {
    const isFixed = fixes.has(row.entry) && row.meant !== "";
    const shown = header.map((_, column) =>
      column === at ? (isFixed ? row.meant : row.entry) : (cells[column] ?? ""),
    );
    const original = isFixed ? row.entry : "";
    return csvLine([...shown, rowVerdict(row).words, rowReason(row), original], delimiter);
  });
  return marked([csvLine([...header, "verdict", "reason", "original"], delimiter), ...lines]);
}

/** Without it spreadsheets take UTF-8 for an old code page as soon as a letter is not ASCII. */
const BYTE_ORDER_MARK = "\ufeff";
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

const marked = (lines: readonly string[]): readonly string[] =>
  lines.every(isAscii) ? lines : [BYTE_ORDER_MARK, ...lines];
