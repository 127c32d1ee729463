import {
  Blanks,
  CELL_MAX_UNITS,
  COLUMNS_MAX,
  type RawRow,
  putCell,
} from "../../core/batch/csv-reader.ts";
import { type DateFormat, dateFormat, numberText } from "../../core/batch/cell-text.ts";
import { TableFault, kindOfCell } from "../../core/batch/entry-cell.ts";
import { OTHER_SHEET } from "./file-text.ts";
import { columnLetters, columnOf } from "../../core/batch/moved-rows.ts";
import {
  cellsIn,
  columnIn,
  lineOf,
  plainXml,
  startOfRow,
  styleOf,
  tagOf,
  textOf,
  cellValue,
} from "./sheet-xml.ts";
import { BROKEN_WORKBOOK, PARTS_MAX, type Relationship, Zip } from "./zip.ts";

const TEXTS_MAX_UNITS = 80_000_000;

export interface Sheet {
  readonly name: string;
  readonly path: string;
  readonly isHidden: boolean;
}

const OTHER = "save the spreadsheet as .xlsx or .csv and send that";
const NO_WORKBOOK = `The file is a zip archive, but no .xlsx workbook; unpack it, or ${OTHER}.`;

const OTHER_SHEETS = ["xl/workbook.bin", "content.xml", "index/document.iwa"];

export interface Contents {
  readonly path: string;
  readonly sheets: readonly Sheet[];
  readonly parts: readonly Relationship[];
  readonly is1904: boolean;
}

/** Which parts a workbook has. Throws a `TableFault` when it is none. */
export async function contentsOf(zip: Zip): Promise<Contents> {
  const root = (await zip.relationships("")).find(({ type }) => type === "officeDocument");
  const path = root?.path ?? "xl/workbook.xml";
  if (OTHER_SHEETS.some((part) => zip.has(part))) throw new TableFault(OTHER_SHEET);
  if (!zip.has(path)) throw new TableFault(NO_WORKBOOK);
  const parts = await zip.relationships(path);
  const targets = new Map(parts.map((part) => [part.id, part.path]));
  const sheets: Sheet[] = [];
  let is1904 = false;
  await zip.eachElement(path, "workbookPr|sheet", ({ name, attributes }) => {
    const { id = "", name: called = "", state = "visible", date1904 } = attributes;
    if (name === "workbookPr") is1904 = date1904 === "1" || date1904 === "true";
    const target = targets.get(id) ?? "";
    if (name === "sheet" && sheets.length < PARTS_MAX && zip.has(target))
      sheets.push({ name: called, path: target, isHidden: state !== "visible" });
  });
  return { path, sheets, parts, is1904 };
}

/** Reads an .xlsx workbook (ECMA-376) in memory, a sheet as a stream of rows. */
export class Workbook {
  readonly sheets: readonly Sheet[];
  readonly #zip: Zip;
  readonly #is1904: boolean;
  #texts: readonly string[] = [];
  #dates: ReadonlyMap<number, DateFormat> = new Map();
  #width = 0;

  private constructor(zip: Zip, { sheets, is1904 }: Contents) {
    this.#zip = zip;
    this.sheets = sheets;
    this.#is1904 = is1904;
  }

  /** Columns up to the last that holds something in the rows that were read. */
  get width(): number {
    return this.#width;
  }

  static async open(file: Buffer): Promise<Workbook> {
    const zip = await Zip.open(file);
    const contents = await contentsOf(zip);
    const partOf = (sought: string): string =>
      contents.parts.find(({ type }) => type === sought)?.path ?? "";
    const workbook = new Workbook(zip, contents);
    workbook.#texts = await sharedTexts(zip, partOf("sharedStrings"));
    workbook.#dates = await formatsOfDates(zip, partOf("styles"));
    return workbook;
  }

  async *rows({ path }: Sheet): AsyncGenerator<readonly RawRow[]> {
    const links = await this.#mailLinks(path);
    const reader = new SheetReader((...cell) => this.#shown(...cell), links);
    for await (const pieces of this.#zip.pieces(path, "row|mergeCell")) {
      const rows = pieces.flatMap((piece) => reader.row(plainXml(piece)) ?? []);
      this.#width = reader.width;
      if (rows.length > 0) yield rows;
    }
  }

  #shown(value: string, type: string, style: number): string {
    if (value === "") return "";
    if (type === "s") return this.#texts[Number(value)] ?? "";
    if (type === "b") return value === "1" ? "TRUE" : "FALSE";
    if (type !== "n") return unescaped(value);
    return this.#dates.get(style)?.(Number(value), this.#is1904) ?? numberText(value);
  }

  async #mailLinks(path: string): Promise<ReadonlyMap<string, string>> {
    const links = new Map<string, string>();
    const targets = new Map<string, string>();
    for (const { id, target } of await this.#zip.relationships(path))
      if (/^mailto:/i.test(target)) targets.set(id, target);
    if (targets.size === 0) return links;
    await this.#zip.eachElement(path, "hyperlink", ({ attributes }) => {
      const target = targets.get(attributes["id"] ?? "");
      if (target !== undefined) links.set(attributes["ref"] ?? "", target);
    });
    return links;
  }
}

type ShowCell = (value: string, type: string, style: number) => string;

const TYPE = /\st\s*=\s*["'](\w+)/;
const FORMULA = /<(?:\w+:)?f[\s/>]/;
const MERGED = /<(?:\w+:)?mergeCell\s[^<>]*?:([A-Z]+)\d+["']/;

/** What is read of a sheet in about two seconds. */
const CELLS_MAX = 2_000_000;

interface SheetCell {
  readonly column: number;
  readonly text: string;
  readonly isFormula: boolean;
  readonly isUnvalued: boolean;
}

class SheetReader {
  width = 0;
  readonly #shown: ShowCell;
  readonly #links: ReadonlyMap<string, string>;
  readonly #blanks = new Blanks();
  #line = 0;
  #cellsLeft = CELLS_MAX;

  constructor(shown: ShowCell, links: ReadonlyMap<string, string>) {
    this.#shown = shown;
    this.#links = links;
  }

  /** The row that a piece ends with; undefined: it ends with another element, or the row is blank. */
  row(piece: string): RawRow | undefined {
    const start = startOfRow(piece);
    if (start >= 0) return this.#row(cellsIn(piece.slice(start)));
    this.#widen(columnOf(MERGED.exec(piece)?.[1] ?? ""));
    return undefined;
  }

  #widen(column: number): void {
    this.width = Math.max(this.width, column + 1);
  }

  #row([tag = "", ...written]: readonly string[]): RawRow | undefined {
    this.#line = lineOf(tag, this.#line);
    this.#cellsLeft -= written.length;
    if (this.#cellsLeft < 0) throw new TableFault(BROKEN_WORKBOOK);
    const cells: string[] = [];
    const unvalued: number[] = [];
    let at = -1;
    let isWide = false;
    for (const cell of written) {
      const { column, text, isFormula, isUnvalued } = this.#cell(cell, at);
      at = column;
      if (text !== "" || isFormula) this.#widen(at);
      if (isUnvalued) unvalued.push(at);
      if (text !== "" && at >= 0 && !this.#put(cells, at, text)) isWide = true;
    }
    if (cells.length === 0 && unvalued.length === 0) return undefined;
    return {
      cells: cells.length === 0 ? [""] : cells,
      line: this.#line,
      fault: isWide
        ? `Row ${String(this.#line)} has more than ${String(COLUMNS_MAX)} columns.`
        : undefined,
      unvalued: unvalued.length > 0 ? unvalued : undefined,
    };
  }

  #cell(cell: string, before: number): SheetCell {
    const tag = tagOf(cell);
    const column = columnIn(tag, before);
    const type = TYPE.exec(tag)?.[1] ?? "n";
    const value = cellValue(cell).slice(0, CELL_MAX_UNITS);
    const isFormula = FORMULA.test(cell);
    const text = this.#linked(this.#shown(value, type, styleOf(tag)), column);
    return { column, text, isFormula, isUnvalued: isFormula && value === "" && type !== "str" };
  }

  #put(cells: string[], column: number, text: string): boolean {
    const at = Math.min(column, COLUMNS_MAX - 1);
    this.#blanks.count(Math.max(0, at - cells.length), text.length);
    while (cells.length < at) cells.push("");
    return putCell(cells, column, text);
  }

  #linked(text: string, column: number): string {
    if (this.#links.size === 0) return text;
    const target = this.#links.get(columnLetters(column) + String(this.#line));
    if (target === undefined || kindOfCell(text) === "address") return text;
    const [address = ""] = target.slice("mailto:".length).split("?", 1);
    return text.trim() === "" ? address : `${text.trim()} <${address}>`;
  }
}

/** Characters that XML cannot hold are written `_x000D_` (ECMA-376 part 1, section 22.9.2.19). */
const unescaped = (text: string): string =>
  text.includes("_x")
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      )
    : text;

const SHARED_TEXT = /<(?:\w+:)?si[\s/>]/;

async function sharedTexts(zip: Zip, path: string): Promise<readonly string[]> {
  const texts: string[] = [];
  if (!zip.has(path)) return texts;
  let units = 0;
  for await (const pieces of zip.pieces(path, "si"))
    for (const piece of pieces) {
      if (!SHARED_TEXT.test(piece)) continue;
      const text = unescaped(textOf(plainXml(piece)).slice(0, CELL_MAX_UNITS));
      units += text.length + 40;
      if (units > TEXTS_MAX_UNITS)
        throw new TableFault("The workbook holds too much text; save it as .csv.");
      // A copy, because a part of 13 characters and more would keep the whole piece of XML.
      texts.push(text.length < 13 ? text : Buffer.from(text).toString());
    }
  return texts;
}

async function formatsOfDates(zip: Zip, path: string): Promise<ReadonlyMap<number, DateFormat>> {
  const found = new Map<number, DateFormat>();
  if (!zip.has(path)) return found;
  const formats = new Map<string, string>();
  let style = -1;
  await zip.eachElement(path, "numFmt|xf", ({ before, name, attributes }) => {
    const { numFmtId = "", formatCode = "" } = attributes;
    if (name === "numFmt") formats.set(numFmtId, formatCode);
    else if (/<(?:\w+:)?cellXfs\b/.test(before)) style = 0;
    else if (style >= 0) style = /<\/(?:\w+:)?cellXfs\b/.test(before) ? -Infinity : style + 1;
    const format = style < 0 ? undefined : dateFormat(Number(numFmtId), formats.get(numFmtId));
    if (format !== undefined) found.set(style, format);
  });
  return found;
}
