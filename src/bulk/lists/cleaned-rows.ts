import { nextSlice } from "../../base/slices.ts";
import { keyOf } from "../../core/batch/batch.ts";
import { CLASS_WORDS } from "../../core/batch/class-words.ts";
import { padded } from "../../core/batch/list-table.ts";
import {
  type CsvCell,
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

/** The changes that the rows of a list get in its cleaned file. */
export interface RowChanges {
  /** The names of the columns that are added. */
  readonly names: readonly string[];
  readonly changeOf: (row: ViewRow) => RowChange;
}

export async function rowChanges(
  order: ListOrder & CleanedOrder,
  source: ListSource,
  { shape, among }: ListView,
): Promise<RowChanges> {
  const { columns, goodOnly = false } = order;
  const isAll = columns === "all";
  const texts = isAll
    ? await byKey(order, source, (result, entry) => {
        const cells = resultCells(JSON.parse(notedText(result, entry, among)) as NotedResult);
        return cells.map((cell) => String(cell ?? "")).join(BETWEEN);
      })
    : new Map<string, string>();
  const hasOriginal = columns !== "mine" && (await source.fixes()).size > 0;
  const own = columns === "mine" ? [] : ["verdict", "reason"];
  const read = [shape.at, ...(shape.further ?? [])];
  return {
    names: [...(hasOriginal ? ["original"] : []), ...own, ...(isAll ? RESULT_COLUMNS : [])],
    changeOf: (row) => ({
      changed: changedCells(read, row, goodOnly),
      added: [
        ...(hasOriginal ? [row.was] : []),
        ...own.map((name) => (name === "verdict" ? CLASS_WORDS[row.class] : row.why)),
        ...(isAll ? ownCells(row, texts) : []),
      ],
    }),
  };
}

/** The rows of these classes as they go out, below the names of their columns unless the file has none and gets none. */
export async function* cleanedTable(
  order: ListOrder & CleanedOrder,
  source: ListSource,
  view: ListView,
): AsyncGenerator<CleanedRows> {
  const { names, changeOf } = await rowChanges(order, source, view);
  const classes = new Set(order.classes);
  const { header, headLine } = view.shape;
  if (headLine !== undefined || order.columns !== "mine") yield [[...header, ...names]];
  let at = 0;
  let rows: (readonly CsvCell[])[] = [];
  for await (const page of readListFile(slicesOf(source), order.options)) {
    for (const { cells } of page.rows) {
      const row = view.rows[at++];
      if (row === undefined || !classes.has(row.class)) continue;
      const { changed, added } = changeOf(row);
      const all = [...padded(cells, header.length)];
      for (const [column, text] of changed) all[column] = text;
      rows.push([...all, ...added]);
    }
    if (rows.length < PIECE_ROWS) continue;
    yield rows;
    rows = [];
    await nextSlice();
  }
  yield rows;
}

/** The cells with entries of which one is repaired, or left out. */
function changedCells(
  columns: readonly number[],
  row: ViewRow,
  goodOnly: boolean,
): RowChange["changed"] {
  const { was, each, spread = [entriesIn(row)] } = row;
  if (was === undefined && !(goodOnly && each !== undefined)) return [];
  const pieces = each ?? [row];
  let from = 0;
  return columns.flatMap((column, at) => {
    const its = pieces.slice(from, (from += spread[at] ?? 0));
    const good = goodOnly ? its.filter((piece) => piece.class === "good") : [];
    const kept = good.length > 0 ? good : its;
    const isChanged = kept.length < its.length || kept.some((piece) => piece.was !== undefined);
    return isChanged ? [[column, kept.map(({ entry }) => entry).join(", ")] as const] : [];
  });
}

const entriesIn = ({ each, class: name }: ViewRow): number =>
  each?.length ?? (name === "blank" || name === "unread" ? 0 : 1);

function ownCells(row: ViewRow, texts: ReadonlyMap<string, string>): readonly CsvCell[] {
  const { entry, was, class: name, why, readAs } = row;
  const pieces = entriesIn(row) > 1 ? entry.split(", ") : entriesIn(row) === 1 ? [entry] : [];
  const each = pieces.flatMap((piece) => {
    const known = texts.get(keyOf(piece));
    return known === undefined ? [] : [known.split(BETWEEN)];
  });
  return rowCells(each, {
    isDuplicate: name === "duplicate",
    isUnchecked: each.length < pieces.length,
    readAs,
    reason: name === "unread" ? why : undefined,
    was,
  });
}
