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
import { columnOf } from "../../core/batch/moved-rows.ts";
import type { Attributes, Handlers } from "./xml-reader.ts";
import { PARTS_MAX, type Relationship, Zip } from "./zip.ts";

const ROWS_MAX = 1_048_576;

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
  await zip.parse(path, {
    open: (name, attributes) => {
      const { date1904 } = name === "workbookPr" ? attributes() : {};
      if (date1904 === "1" || date1904 === "true") is1904 = true;
      if (name !== "sheet" || sheets.length >= PARTS_MAX) return;
      const { id = "", name: called = "", state = "visible" } = attributes();
      const target = targets.get(id) ?? "";
      if (zip.has(target))
        sheets.push({ name: called, path: target, isHidden: state !== "visible" });
    },
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
    for await (const _ of this.#zip.events(path, reader.handlers)) {
      this.#width = reader.width;
      if (reader.rows.length > 0) yield reader.rows.splice(0);
    }
    this.#width = reader.width;
    yield reader.rows.splice(0);
  }

  #shown(value: string, type: string, style: number): string {
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
    await this.#zip.parse(path, {
      open: (name, attributes) => {
        if (name !== "hyperlink") return;
        const { ref = "", id = "" } = attributes();
        const target = targets.get(id);
        if (target !== undefined) links.set(ref, target);
      },
    });
    return links;
  }
}

/** The number of a row, which is behind the one before. */
export const lineOf = (r: string | undefined, before: number): number => {
  const line = Number(r);
  return line > before && line <= ROWS_MAX ? line : before + 1;
};

type ShowCell = (value: string, type: string, style: number) => string;

class SheetReader {
  readonly rows: RawRow[] = [];
  width = 0;
  readonly #shown: ShowCell;
  readonly #links: ReadonlyMap<string, string>;
  #cells: string[] = [];
  #line = 0;
  #at = -1;
  #name = "";
  #type = "";
  #style = -1;
  #value = "";
  #reading: "value" | "text" | undefined;
  #hasValue = false;
  #hasFormula = false;
  #isPhonetic = false;
  #unvalued: number[] = [];
  #isWide = false;
  readonly #blanks = new Blanks();

  constructor(shown: ShowCell, links: ReadonlyMap<string, string>) {
    this.#shown = shown;
    this.#links = links;
  }

  readonly handlers: Handlers = {
    open: (name, attributes) => {
      if (name === "row") this.#beginRow(attributes());
      else if (name === "c") this.#beginCell(attributes());
      else if (name === "f") this.#hasFormula = true;
      else if (name === "rPh") this.#isPhonetic = true;
      else if (name === "mergeCell") this.#widen(attributes());
      else if (name === "v") {
        this.#reading = "value";
        this.#value = "";
      } else if (name === "t" && !this.#isPhonetic && !this.#hasValue) this.#reading = "text";
    },
    text: (text) => {
      if (this.#reading === undefined || this.#value.length > CELL_MAX_UNITS) return;
      this.#value += text();
      if (this.#reading === "value") this.#hasValue = true;
    },
    close: (name) => {
      if (name === "v" || name === "t") this.#reading = undefined;
      else if (name === "rPh") this.#isPhonetic = false;
      else if (name === "c") this.#endCell();
      else if (name === "row") this.#endRow();
    },
  };

  #widen({ ref = "" }: Attributes): void {
    this.width = Math.max(this.width, columnOf(ref.slice(ref.indexOf(":") + 1)) + 1);
  }

  #beginRow({ r }: Attributes): void {
    this.#line = lineOf(r, this.#line);
    this.#cells = [];
    this.#at = -1;
    this.#unvalued = [];
    this.#isWide = false;
  }

  #beginCell({ r, t = "n", s = "-1" }: Attributes): void {
    this.#at = r === undefined ? this.#at + 1 : columnOf(r);
    this.#name = r ?? "";
    this.#type = t;
    this.#style = Number(s);
    this.#value = "";
    this.#hasValue = this.#hasFormula = false;
  }

  #endCell(): void {
    const text = this.#linked(this.#shown(this.#value, this.#type, this.#style));
    if (text !== "" || this.#hasFormula) this.width = Math.max(this.width, this.#at + 1);
    if (this.#hasFormula && this.#value === "" && this.#type !== "str")
      this.#unvalued.push(this.#at);
    if (text === "" || this.#at < 0) return;
    const at = Math.min(this.#at, COLUMNS_MAX - 1);
    this.#blanks.count(Math.max(0, at - this.#cells.length), text.length);
    while (this.#cells.length < at) this.#cells.push("");
    if (!putCell(this.#cells, this.#at, text)) this.#isWide = true;
  }

  #linked(text: string): string {
    const target = this.#links.size === 0 ? undefined : this.#links.get(this.#name);
    if (target === undefined || kindOfCell(text) === "address") return text;
    const [address = ""] = target.slice("mailto:".length).split("?", 1);
    return text.trim() === "" ? address : `${text.trim()} <${address}>`;
  }

  #endRow(): void {
    const [cells, line] = [this.#cells, this.#line];
    if (cells.length === 0 && this.#unvalued.length === 0) return;
    this.rows.push({
      cells: cells.length === 0 ? [""] : cells,
      line,
      fault: this.#isWide
        ? `Row ${String(line)} has more than ${String(COLUMNS_MAX)} columns.`
        : undefined,
      unvalued: this.#unvalued.length > 0 ? this.#unvalued : undefined,
    });
  }
}

/** Characters that XML cannot hold are written `_x000D_` (ECMA-376 part 1, section 22.9.2.19). */
const unescaped = (text: string): string =>
  text.includes("_x")
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      )
    : text;

async function sharedTexts(zip: Zip, path: string): Promise<readonly string[]> {
  const texts: string[] = [];
  if (!zip.has(path)) return texts;
  let units = 0;
  let text = "";
  let isRead = false;
  let isPhonetic = false;
  await zip.parse(path, {
    open: (name) => {
      if (name === "si") text = "";
      else if (name === "rPh") isPhonetic = true;
      else if (name === "t") isRead = !isPhonetic;
    },
    text: (part) => {
      if (isRead && text.length <= CELL_MAX_UNITS) text += part();
    },
    close: (name) => {
      if (name === "t") isRead = false;
      else if (name === "rPh") isPhonetic = false;
      else if (name === "si") {
        units += text.length + 40;
        if (units > TEXTS_MAX_UNITS)
          throw new TableFault("The workbook holds too much text; save it as .csv.");
        // A copy, because a part of 13 characters and more would keep the whole piece of XML.
        texts.push(text.length < 13 ? unescaped(text) : Buffer.from(unescaped(text)).toString());
      }
    },
  });
  return texts;
}

async function formatsOfDates(zip: Zip, path: string): Promise<ReadonlyMap<number, DateFormat>> {
  const found = new Map<number, DateFormat>();
  if (!zip.has(path)) return found;
  const formats = new Map<string, string>();
  let isCell = false;
  let style = 0;
  await zip.parse(path, {
    open: (name, attributes) => {
      if (name === "numFmt") {
        const { numFmtId = "", formatCode = "" } = attributes();
        formats.set(numFmtId, formatCode);
      } else if (name === "cellXfs") isCell = true;
      else if (name === "xf" && isCell) {
        const { numFmtId = "" } = attributes();
        const format = dateFormat(Number(numFmtId), formats.get(numFmtId));
        if (format !== undefined) found.set(style, format);
        style += 1;
      }
    },
    close: (name) => {
      if (name === "cellXfs") isCell = false;
    },
  });
  return found;
}
