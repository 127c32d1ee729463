import { Parser } from "saxen";
import { isoTime } from "../core/calendar.ts";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { CELL_MAX_UNITS, COLUMNS_MAX, type RawRow } from "../core/batch/csv-reader.ts";
import { TableFault } from "../core/batch/entry-cell.ts";

const UNPACKED_MAX_OCTETS = 400_000_000;

const TEXTS_MAX_UNITS = 80_000_000;

const PARTS_MAX = 5_000;

export interface Sheet {
  readonly name: string;
  readonly path: string;
}

type Attributes = Readonly<Record<string, string>>;

/** What happens in a part's XML. Names have no namespace prefix. */
interface Handlers {
  readonly open?: (name: string, attributes: () => Attributes) => void;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

const NO_WORKBOOK =
  "The file is a zip archive, but no .xlsx workbook; unpack it, or save the spreadsheet as .xlsx or .csv.";
const BROKEN = "The workbook is broken; open it and save it as .csv.";

/** Reads an .xlsx workbook (ECMA-376) in memory, a sheet as a stream of rows. */
export class Workbook {
  readonly #zip: Zip;
  readonly #sheets: Sheet[] = [];
  #epochDays = EPOCH_1900_DAYS;
  #texts: readonly string[] = [];
  #dateStyles: ReadonlySet<number> = new Set();

  private constructor(zip: Zip) {
    this.#zip = zip;
  }

  get sheets(): readonly Sheet[] {
    return this.#sheets;
  }

  static async open(file: Buffer): Promise<Workbook> {
    const zip = await Zip.open(file);
    if (!zip.has("xl/workbook.xml")) throw new TableFault(NO_WORKBOOK);
    const targets = new Map<string, string>();
    await zip.parse("xl/_rels/workbook.xml.rels", {
      open: (name, attributes) => {
        const { Id = "", Target = "" } = name === "Relationship" ? attributes() : {};
        targets.set(Id, Target.startsWith("/") ? Target.slice(1) : `xl/${Target}`);
      },
    });
    const workbook = new Workbook(zip);
    await zip.parse("xl/workbook.xml", {
      open: (name, attributes) => workbook.#read(name, attributes, targets),
    });
    workbook.#texts = await sharedTexts(zip);
    workbook.#dateStyles = await stylesOfDates(zip);
    return workbook;
  }

  #read(name: string, attributes: () => Attributes, targets: ReadonlyMap<string, string>): void {
    const { date1904 } = name === "workbookPr" ? attributes() : {};
    if (date1904 === "1" || date1904 === "true") this.#epochDays = EPOCH_1904_DAYS;
    if (name !== "sheet" || this.#sheets.length >= PARTS_MAX) return;
    const all = attributes();
    const path = targets.get(all["r:id"] ?? all["id"] ?? "") ?? "";
    if (this.#zip.has(path)) this.#sheets.push({ name: all["name"] ?? "", path });
  }

  /** The rows of a sheet, some at a time; blank ones are left out. */
  async *rows(path: string): AsyncGenerator<readonly RawRow[]> {
    let rows: RawRow[] = [];
    let cells: string[] = [];
    let line = 0;
    let at = -1;
    let type = "";
    let style = -1;
    let value = "";
    let isRead = false;
    let isPhonetic = false;
    const handlers: Handlers = {
      open: (name, attributes) => {
        if (name === "row") {
          const { r } = attributes();
          line = r === undefined ? line + 1 : Number(r);
          cells = [];
          at = -1;
        } else if (name === "c") {
          const { r, t = "n", s = "-1" } = attributes();
          at = r === undefined ? at + 1 : columnOf(r);
          type = t;
          style = Number(s);
          value = "";
        } else if (name === "rPh") isPhonetic = true;
        else if (name === "v" || (name === "t" && !isPhonetic)) isRead = true;
      },
      text: (text) => {
        if (isRead && value.length <= CELL_MAX_UNITS) value += text;
      },
      close: (name) => {
        if (name === "v" || name === "t") isRead = false;
        else if (name === "rPh") isPhonetic = false;
        else if (name === "c" && at >= 0 && at < COLUMNS_MAX) {
          while (cells.length < at) cells.push("");
          cells[at] = this.#shown(value, type, style);
        } else if (name === "row" && cells.some((cell) => cell !== "")) rows.push({ cells, line });
      },
    };
    for await (const _ of this.#zip.events(path, handlers)) {
      if (rows.length === 0) continue;
      yield rows;
      rows = [];
    }
    yield rows;
  }

  #shown(value: string, type: string, style: number): string {
    if (type === "s") return this.#texts[Number(value)] ?? "";
    if (type === "b") return value === "1" ? "TRUE" : "FALSE";
    if (type === "n" && value !== "" && this.#dateStyles.has(style))
      return dateText(Number(value), this.#epochDays) ?? value;
    return unescaped(value);
  }
}

const EPOCH_1900_DAYS = 25_569;
const EPOCH_1904_DAYS = 24_107;

const LAST_DAY = 2_958_465;

function dateText(days: number, epochDays: number): string | undefined {
  if (!(days >= 1 && days < LAST_DAY + 1)) return undefined;
  const text = isoTime(Math.round((days - epochDays) * 86_400) * 1_000);
  return Number.isInteger(days) ? text.slice(0, 10) : text.slice(0, 19);
}

/** "B7" is 1. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at += 1) {
    const code = reference.charCodeAt(at) & ~32;
    if (code < 65 || code > 90) break;
    column = column * 26 + code - 64;
  }
  return column - 1;
}

/** Characters that XML cannot hold are written `_x000D_` (ECMA-376 part 1, section 22.9.2.19). */
const unescaped = (text: string): string =>
  text.includes("_x")
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      )
    : text;

async function sharedTexts(zip: Zip): Promise<readonly string[]> {
  const texts: string[] = [];
  if (!zip.has("xl/sharedStrings.xml")) return texts;
  let units = 0;
  let text = "";
  let isRead = false;
  let isPhonetic = false;
  await zip.parse("xl/sharedStrings.xml", {
    open: (name) => {
      if (name === "si") text = "";
      else if (name === "rPh") isPhonetic = true;
      else if (name === "t") isRead = !isPhonetic;
    },
    text: (part) => {
      if (isRead && text.length <= CELL_MAX_UNITS) text += part;
    },
    close: (name) => {
      if (name === "t") isRead = false;
      else if (name === "rPh") isPhonetic = false;
      else if (name === "si") {
        units += text.length + 8;
        if (units > TEXTS_MAX_UNITS)
          throw new TableFault("The workbook holds too much text; save it as .csv.");
        texts.push(Buffer.from(unescaped(text)).toString()); // a copy, because a part would keep the whole piece of XML
      }
    },
  });
  return texts;
}

async function stylesOfDates(zip: Zip): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  if (!zip.has("xl/styles.xml")) return found;
  const formats = new Set<number>([
    14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58,
  ]);
  let isCell = false;
  let style = 0;
  await zip.parse("xl/styles.xml", {
    open: (name, attributes) => {
      if (name === "numFmt") {
        const { numFmtId = "", formatCode = "" } = attributes();
        const code = formatCode.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, "");
        if (/[dy]/i.test(code)) formats.add(Number(numFmtId));
      } else if (name === "cellXfs") isCell = true;
      else if (name === "xf" && isCell) {
        if (formats.has(Number(attributes()["numFmtId"]))) found.add(style);
        style += 1;
      }
    },
    close: (name) => {
      if (name === "cellXfs") isCell = false;
    },
  });
  return found;
}

class Zip {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  #unpacked = 0;

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  static async open(octets: Buffer): Promise<Zip> {
    try {
      const file = await fromBufferPromise(octets, { lazyEntries: true, autoClose: false });
      if (file.entryCount > PARTS_MAX) throw new TableFault(BROKEN);
      const entries = new Map<string, Entry>();
      for await (const entry of file.eachEntry()) entries.set(entry.fileName, entry);
      return new Zip(file, entries);
    } catch {
      throw new TableFault(BROKEN);
    }
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  async parse(path: string, handlers: Handlers): Promise<void> {
    for await (const _ of this.events(path, handlers));
  }

  async *events(path: string, handlers: Handlers): AsyncGenerator<undefined> {
    const entry = this.#entries.get(path);
    if (entry === undefined) throw new TableFault(BROKEN);
    const { parser, fault } = parserFor(handlers);
    const decoder = new TextDecoder();
    try {
      const stream: AsyncIterable<Buffer> = await this.#file.openReadStreamPromise(entry);
      for await (const piece of stream) {
        this.#unpacked += piece.length;
        if (this.#unpacked > UNPACKED_MAX_OCTETS)
          throw new TableFault("The workbook unpacks to more than 400 MB; save it as .csv.");
        parser.write(decoder.decode(piece, { stream: true }));
        const why = fault();
        if (why !== undefined) throw why;
        yield;
      }
    } catch (error) {
      throw error instanceof TableFault ? error : new TableFault(BROKEN);
    }
  }
}

/** `fault`: what a handler threw, or broken XML. */
function parserFor({ open, text, close }: Handlers): {
  readonly parser: Parser;
  readonly fault: () => Error | undefined;
} {
  let fault: Error | undefined;
  const local = (name: string): string => name.slice(name.indexOf(":") + 1);
  const decoded = (part: string, decode: (text: string) => string): string =>
    part.includes("&") ? decode(part) : part;
  const parser = new Parser();
  parser.on("openTag", (name, attributes, decode) =>
    open?.(local(name), () => {
      const all: Record<string, string> = attributes();
      for (const key in all) all[key] = decoded(all[key] ?? "", decode);
      return all;
    }),
  );
  parser.on("text", (piece, decode) => text?.(decoded(piece, decode)));
  parser.on("cdata", (piece) => text?.(piece));
  parser.on("closeTag", (name) => close?.(local(name)));
  parser.on("error", (error) => {
    fault ??= error instanceof TableFault ? error : new TableFault(BROKEN);
  });
  return { parser, fault: () => fault };
}
