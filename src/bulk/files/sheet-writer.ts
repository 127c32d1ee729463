import { TableFault } from "../../core/batch/entry-cell.ts";
import { columnLetters, type MovedRows } from "../../core/batch/moved-rows.ts";
import type { CsvCell } from "../../core/batch/result-cells.ts";
import { cellsIn, columnIn, lineOf, startOfRow, styleOf, tagOf } from "./sheet-xml.ts";
import { cellXml } from "./write-workbook.ts";
import { BROKEN_WORKBOOK } from "./zip.ts";

/** What a row of the list gets: cells that are another text, and cells of ours. */
export interface RowChange {
  readonly changed: readonly (readonly [column: number, text: string])[];
  readonly added: readonly CsvCell[];
}

const UNCHANGED: RowChange = { changed: [], added: [] };

export interface SheetTerms {
  readonly moves: MovedRows;
  /** Lines that change, in their order. */
  readonly lines: readonly number[];
  readonly change: (index: number) => RowChange;
  /** Where our columns begin, and whether cells there are ours of an earlier run. */
  readonly start: number;
  readonly isAgain: boolean;
  /** Looks at a row for texts that it shares with others. */
  readonly note: (row: string, isOut: boolean) => void;
}

/** Elements of a sheet that its pieces end with. */
export const SHEET_PARTS = "row|mergeCell|hyperlink";

const PREFIX = /^<((?:\w+:)?)/;
const SPANS = /^(<[^<>]*?)\sspans\s*=\s*["'][^"']*["']/;
const NUMBERS = /(<(?:\w+:)?(?:c|row)\b[^<>]*?\sr\s*=\s*["'])([A-Z]*)\d+/gi;
const DIMENSION = /<(?:\w+:)?dimension\b[^<>]*>/;
const EMPTY_LISTS = /<((?:\w+:)?(?:mergeCells|hyperlinks))\b[^<>]*>\s*<\/\1>/g;

/** With what stands for a value that is not stored. */
export const FORMULA =
  /<((?:\w+:)?)f\b([^<>]*?)(?:\/>|>([^<]*)<\/\1f>)(?:<(?:\w+:)?v\s*(?:\/>|><\/(?:\w+:)?v>))?/g;
export const OF_FORMULA = /(<(?:\w+:)?c\b[^<>]*?)\scm\s*=\s*["']\d+["']/g;

/** Writes a sheet's XML with rows taken out, cells changed and columns added; the rest stays as it is. */
export class SheetWriter {
  readonly #terms: SheetTerms;
  readonly #changed = new Set<string>();
  #line = 0;
  #index = 0;
  #held = "";

  constructor(terms: SheetTerms) {
    this.#terms = terms;
  }

  /** A piece ends with one of `SHEET_PARTS`, or with the sheet. */
  write(xml: string): string {
    const start = startOfRow(xml);
    if (start < 0) return this.#below(xml);
    return xml.slice(0, start).replace(DIMENSION, "") + this.#row(xml.slice(start));
  }

  #row(xml: string): string {
    const { moves, note } = this.#terms;
    const prefix = PREFIX.exec(xml)?.[1] ?? "";
    this.#line = lineOf(xml, this.#line);
    if (moves.has(this.#line)) {
      note(xml, true);
      return "";
    }
    return this.#changedRow(moves.isNone ? xml : this.#moved(xml), prefix);
  }

  #changedRow(row: string, prefix: string): string {
    const { lines, change, isAgain } = this.#terms;
    const next = lines[this.#index] ?? Infinity;
    if (next < this.#line) throw new TableFault(BROKEN_WORKBOOK);
    const { changed, added } = next === this.#line ? change(this.#index++) : UNCHANGED;
    const end = row.lastIndexOf("</");
    if (end < 0) return row;
    const isSame = changed.length === 0 && !isAgain;
    const cells = isSame ? row.slice(0, end) : this.#cells(row.slice(0, end), prefix, changed);
    return cells.replace(SPANS, "$1") + this.#added(added, prefix) + row.slice(end);
  }

  /** Formulas name cells that are elsewhere now: their values stay. */
  #moved(xml: string): string {
    const { moves, note } = this.#terms;
    const row = xml.replace(FORMULA, "").replace(OF_FORMULA, "$1");
    note(row, false);
    const at = moves.at(this.#line);
    return at === this.#line ? row : row.replace(NUMBERS, `$1$2${String(at)}`);
  }

  #cells(row: string, prefix: string, changed: RowChange["changed"]): string {
    const { start } = this.#terms;
    let at = -1;
    const written = cellsIn(row).map((cell, index) => {
      if (index === 0) return cell;
      at = columnIn(tagOf(cell), at);
      if (at >= start) return "";
      const text = changed.find(([column]) => column === at)?.[1];
      if (text === undefined) return cell;
      this.#changed.add(columnLetters(at) + String(this.#line));
      const style = styleOf(tagOf(cell));
      return this.#cell(text, at, prefix, style < 0 ? "" : ` s="${String(style)}"`);
    });
    return written.join("");
  }

  #added(cells: readonly CsvCell[], prefix: string): string {
    const { start } = this.#terms;
    return cells
      .map((cell, at) =>
        cell === undefined || cell === "" ? "" : this.#cell(cell, start + at, prefix),
      )
      .join("");
  }

  #cell(cell: CsvCell, column: number, prefix: string, style = ""): string {
    const reference = columnLetters(column) + String(this.#terms.moves.at(this.#line));
    const xml = cellXml(cell, ` r="${reference}"${style}`);
    return prefix === "" ? xml : xml.replace(/<(\/?)/g, `<$1${prefix}`);
  }

  /** Writes what stands below the rows. The opening tag of a list is written only once the list keeps an item. */
  #below(xml: string): string {
    if (this.#index < this.#terms.lines.length) throw new TableFault(BROKEN_WORKBOOK);
    const { moves } = this.#terms;
    if (moves.isNone && this.#changed.size === 0) return xml;
    const moved = movedElement(xml, moves, this.#changed);
    const all = this.#held + moved.xml.replace(/(<(?:\w+:)?mergeCells)\scount=["']\d+["']/, "$1");
    this.#held = moved.isOut ? all : "";
    return moved.isOut ? "" : all.replace(EMPTY_LISTS, "");
  }
}

const REFERRING = /<(?:\w+:)?(?:mergeCell|hyperlink|comment|threadedComment)\b[^<>]*>/;

/** A piece with its last element where its rows are now, or without it, as the link of a changed cell goes to what it was. */
export function movedElement(
  xml: string,
  moves: MovedRows,
  changed: ReadonlySet<string> = new Set(),
): { readonly xml: string; readonly isOut: boolean } {
  const found = REFERRING.exec(xml);
  const reference = /\sref\s*=\s*["']([^"']*)/.exec(found?.[0] ?? "")?.[1];
  if (found === null || reference === undefined) return { xml, isOut: false };
  const moved = moves.range(reference);
  const isNoMerge = found[0].includes("mergeCell") && /^(\w+):\1$/.test(moved ?? "");
  if (moved === undefined || isNoMerge || changed.has(reference))
    return { xml: xml.slice(0, found.index), isOut: true };
  const [before, after] = [xml.slice(0, found.index), xml.slice(found.index)];
  return { xml: before + after.replace(reference, moved), isOut: false };
}
