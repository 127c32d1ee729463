import { nextSlice } from "../../base/slices.ts";
import { keyOf } from "../../core/batch/batch.ts";
import { CLASS_WORDS } from "../../core/batch/class-words.ts";
import { type ListRow, padded } from "../../core/batch/list-table.ts";
import {
  type CsvCell,
  type ListKind,
  type NotedResult,
  RESULT_COLUMNS,
  resultCells,
  rowCells,
} from "../../core/batch/result-cells.ts";
import type { RowClass } from "../../core/batch/row-class.ts";
import { readListFile } from "../files/list-file.ts";
import {
  byKey,
  type ListOrder,
  type ListSource,
  type ListView,
  slicesOf,
  type ViewRow,
} from "./list-view.ts";
import { notedText } from "../jobs/result-source.ts";
import type { RowChange } from "../files/sheet-writer.ts";

const BETWEEN = "\u001f";

const PIECE_ROWS = 500;

/** What the file gets besides its own columns: nothing, our verdict in words, or all that was found. */
export const FILE_COLUMNS = ["mine", "verdict", "all"] as const;

export interface CleanedOrder {
  readonly classes: readonly RowClass[];
  readonly columns: (typeof FILE_COLUMNS)[number];
  /** `rows`: cells of a table. `workbook`: octets of the workbook that came, rows taken out and columns added. */
  readonly form: "rows" | "workbook";
  /** Of several addresses in a cell the good ones alone, where there are any. */
  readonly goodOnly?: boolean;
}

export type CleanedRows = readonly (readonly CsvCell[])[];

export interface CleanedRow extends RowChange {
  readonly cells: readonly string[];
}

/** The rows of these classes with the cells that they get, a page each; the first page has the names of those columns. */
export async function* cleanedRows(
  order: ListOrder & CleanedOrder,
  source: ListSource,
  view: ListView,
): AsyncGenerator<readonly CleanedRow[]> {
  const { columns } = order;
  const classes = new Set(order.classes);
  const isAll = columns === "all";
  const texts = isAll ? await resultTexts(order, source, view.among) : new Map<string, string>();
  const hasOriginal = columns !== "mine" && (await source.fixes()).size > 0;
  const own = columns === "mine" ? [] : ["verdict", "reason"];
  const { shape } = view;
  const names = [...(hasOriginal ? ["original"] : []), ...own, ...(isAll ? RESULT_COLUMNS : [])];
  yield [{ line: shape.headLine ?? 0, cells: shape.header, changed: [], added: names }];
  let at = 0;
  let rows: CleanedRow[] = [];
  for await (const page of readListFile(slicesOf(source), order.options)) {
    for (const row of page.rows) {
      const known = view.rows[at];
      at += 1;
      if (known === undefined || !classes.has(known.class)) continue;
      const added = [
        ...(hasOriginal ? [known.was] : []),
        ...own.map((name) => (name === "verdict" ? CLASS_WORDS[known.class] : known.why)),
        ...(isAll ? ownCells(row, known, texts) : []),
      ];
      const changed = changedCells(view, row, known, order.goodOnly === true);
      rows.push({ line: row.line, cells: row.cells, changed, added });
    }
    if (rows.length < PIECE_ROWS) continue;
    yield rows;
    rows = [];
    await nextSlice();
  }
  yield rows;
}

/** The same as a table: without names above it where the file has none and gets none. */
export async function* cleanedTable(
  order: ListOrder & CleanedOrder,
  source: ListSource,
  view: ListView,
): AsyncGenerator<CleanedRows> {
  const { header, headLine } = view.shape;
  let isBare = headLine === undefined && order.columns === "mine";
  for await (const rows of cleanedRows(order, source, view)) {
    if (!isBare)
      yield rows.map(({ cells, changed, added }) => {
        const all = [...padded(cells, header.length)];
        for (const [column, text] of changed) all[column] = text;
        return [...all, ...added];
      });
    isBare = false;
  }
}

/** The cells of the columns with entries of which one is repaired, or left out. */
function changedCells(
  { shape }: ListView,
  { entries, spread }: ListRow,
  known: ViewRow,
  goodOnly: boolean,
) {
  if (known.was === undefined && !(goodOnly && known.each !== undefined)) return [];
  const pieces = known.each ?? [known];
  let from = 0;
  return [shape.at, ...(shape.further ?? [])].flatMap((column, at) => {
    const count = spread === undefined ? (at === 0 ? entries.length : 0) : (spread[at] ?? 0);
    const its = pieces.slice(from, (from += count));
    const good = goodOnly ? its.filter((piece) => piece.class === "good") : [];
    const kept = good.length > 0 ? good : its;
    const isChanged = kept.length < its.length || kept.some(({ was }) => was !== undefined);
    return isChanged ? [[column, kept.map(({ entry }) => entry).join(", ")] as const] : [];
  });
}

const resultTexts = (
  order: ListOrder,
  source: ListSource,
  among: ListKind,
): Promise<ReadonlyMap<string, string>> =>
  byKey(order, source, (result, entry) => {
    const cells = resultCells(JSON.parse(notedText(result, entry, among)) as NotedResult);
    return cells.map((cell) => String(cell ?? "")).join(BETWEEN);
  });

function ownCells(
  { entries, readAs, reason }: ListRow,
  { entry, was, class: name }: ViewRow,
  texts: ReadonlyMap<string, string>,
): readonly CsvCell[] {
  const pieces = entries.length > 1 ? entry.split(", ") : entries.length === 1 ? [entry] : [];
  const each = pieces.flatMap((piece) => {
    const known = texts.get(keyOf(piece));
    return known === undefined ? [] : [known.split(BETWEEN)];
  });
  return rowCells(each, {
    isDuplicate: name === "duplicate",
    isUnchecked: each.length < pieces.length,
    ...(readAs !== undefined && { readAs }),
    ...(reason !== undefined && { reason }),
    ...(was !== undefined && { was }),
  });
}
