import { isoTime } from "../core/calendar.ts";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import {
  Blanks,
  CELL_MAX_UNITS,
  COLUMNS_MAX,
  type RawRow,
  putCell,
} from "../core/batch/csv-reader.ts";
import { TableFault, kindOfCell } from "../core/batch/entry-cell.ts";
import { type Attributes, type Handlers, XmlReader } from "./xml-reader.ts";

const UNPACKED_MAX_OCTETS = 400_000_000;

/** A slice of XML has few rows, however wide they are. */
const SLICE_UNITS = 8_192;

const TEXTS_MAX_UNITS = 80_000_000;

const PARTS_MAX = 5_000;

export interface Sheet {
  readonly name: string;
  readonly path: string;
  readonly isHidden: boolean;
}

const OTHER = "save the spreadsheet as .xlsx or .csv and send that";
const NO_WORKBOOK = `The file is a zip archive, but no .xlsx workbook; unpack it, or ${OTHER}.`;
const BROKEN = "The workbook is broken, or holds too much; open it and save it as .csv.";
const PASSWORD = "The workbook is protected by a password; save it without one.";

const OTHER_ARCHIVES: readonly (readonly [path: string, what: string])[] = [
  ["xl/workbook.bin", `The file is a binary workbook (.xlsb); ${OTHER}.`],
  ["content.xml", `The file is an OpenDocument file (.ods); ${OTHER}.`],
  ["index/document.iwa", `The file is a Numbers spreadsheet; ${OTHER}.`],
  ["word/document.xml", `The file is a Word document; ${OTHER}.`],
  ["ppt/presentation.xml", `The file is a PowerPoint presentation; ${OTHER}.`],
];

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
    const root = (await zip.relationships("")).find(({ type }) => type === "officeDocument");
    const path = root?.path ?? "xl/workbook.xml";
    const other = OTHER_ARCHIVES.find(([part]) => zip.has(part))?.[1];
    if (other !== undefined) throw new TableFault(other);
    if (!zip.has(path)) throw new TableFault(NO_WORKBOOK);
    const parts = await zip.relationships(path);
    const partOf = (sought: string): string =>
      parts.find(({ type }) => type === sought)?.path ?? "";
    const workbook = new Workbook(zip);
    const targets = new Map(parts.map((part) => [part.id, part.path]));
    await zip.parse(path, {
      open: (name, attributes) => workbook.#read(name, attributes, targets),
    });
    workbook.#texts = await sharedTexts(zip, partOf("sharedStrings"));
    workbook.#dateStyles = await stylesOfDates(zip, partOf("styles"));
    return workbook;
  }

  #read(name: string, attributes: () => Attributes, targets: ReadonlyMap<string, string>): void {
    const { date1904 } = name === "workbookPr" ? attributes() : {};
    if (date1904 === "1" || date1904 === "true") this.#epochDays = EPOCH_1904_DAYS;
    if (name !== "sheet" || this.#sheets.length >= PARTS_MAX) return;
    const { id = "", name: called = "", state = "visible" } = attributes();
    const path = targets.get(id) ?? "";
    if (this.#zip.has(path))
      this.#sheets.push({ name: called, path, isHidden: state !== "visible" });
  }

  async *rows({ path }: Sheet): AsyncGenerator<readonly RawRow[]> {
    const links = await this.#mailLinks(path);
    const reader = new SheetReader((...cell) => this.#shown(...cell), links);
    for await (const _ of this.#zip.events(path, reader.handlers)) {
      if (reader.rows.length > 0) yield reader.rows.splice(0);
    }
    yield reader.rows.splice(0);
  }

  #shown(value: string, type: string, style: number): string {
    if (type === "s") return this.#texts[Number(value)] ?? "";
    if (type === "b") return value === "1" ? "TRUE" : "FALSE";
    if (type === "n" && value !== "" && this.#dateStyles.has(style))
      return dateText(Number(value), this.#epochDays) ?? value;
    return unescaped(value);
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

type ShowCell = (value: string, type: string, style: number) => string;

class SheetReader {
  readonly rows: RawRow[] = [];
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

  #beginRow({ r }: Attributes): void {
    this.#line = r === undefined ? this.#line + 1 : Number(r);
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
    if (this.#hasFormula && this.#value === "" && this.#type !== "str")
      this.#unvalued.push(this.#at);
    if (text === "" || this.#at < 0) return;
    const at = Math.min(this.#at, COLUMNS_MAX - 1);
    this.#blanks.count(Math.max(0, at - this.#cells.length), text.length);
    while (this.#cells.length < at) this.#cells.push("");
    if (!putCell(this.#cells, this.#at, text)) this.#isWide = true;
  }

  #linked(text: string): string {
    const target = this.#links.get(this.#name);
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

const EPOCH_1900_DAYS = 25_569;
const EPOCH_1904_DAYS = 24_107;

const LAST_DAY = 2_958_465;

function dateText(days: number, epochDays: number): string | undefined {
  if (!(days >= 1 && days < LAST_DAY + 1)) return undefined;
  const text = isoTime(Math.round((days - epochDays) * 86_400) * 1_000);
  return Number.isInteger(days) ? text.slice(0, 10) : text.slice(0, 19);
}

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
        texts.push(Buffer.from(unescaped(text)).toString()); // a copy, because a part would keep the whole piece of XML
      }
    },
  });
  return texts;
}

/** Excel takes 255. */
const FORMAT_UNITS = 1_000;

async function stylesOfDates(zip: Zip, path: string): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  if (!zip.has(path)) return found;
  const formats = new Set<number>([
    14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58,
  ]);
  let isCell = false;
  let style = 0;
  await zip.parse(path, {
    open: (name, attributes) => {
      if (name === "numFmt") {
        const { numFmtId = "", formatCode = "" } = attributes();
        const code = formatCode
          .slice(0, FORMAT_UNITS)
          .replace(/"[^"]*(?:"|$)|\\.|\[[^\]]*(?:\]|$)/g, "");
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

/** Links of a sheet that Excel writes, and some. */
const LINKS_MAX = 100_000;

interface Relationship {
  readonly id: string;
  readonly type: string;
  readonly target: string;
  readonly path: string;
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
      for await (const entry of file.eachEntry()) entries.set(entry.fileName.toLowerCase(), entry);
      return new Zip(file, entries);
    } catch {
      throw new TableFault(BROKEN);
    }
  }

  has(path: string): boolean {
    return this.#entries.has(path.toLowerCase());
  }

  async relationships(path: string): Promise<readonly Relationship[]> {
    const slash = path.lastIndexOf("/") + 1;
    const listed = `${path.slice(0, slash)}_rels/${path.slice(slash)}.rels`;
    const found: Relationship[] = [];
    if (!this.has(listed)) return found;
    await this.parse(listed, {
      open: (name, attributes) => {
        if (name !== "Relationship") return;
        const { Id: id = "", Type: type = "", Target: target = "" } = attributes();
        const word = type.slice(type.lastIndexOf("/") + 1);
        if (found.length >= LINKS_MAX) throw new TableFault(BROKEN);
        found.push({ id, type: word, target, path: pathOf(target, path) });
      },
    });
    return found;
  }

  async parse(path: string, handlers: Handlers): Promise<void> {
    for await (const _ of this.events(path, handlers));
  }

  async *events(path: string, handlers: Handlers): AsyncGenerator<undefined> {
    const entry = this.#entries.get(path.toLowerCase());
    if (entry === undefined) throw new TableFault(BROKEN);
    if (entry.isEncrypted()) throw new TableFault(PASSWORD);
    const reader = new XmlReader(handlers);
    let decoder: InstanceType<typeof TextDecoder> | undefined;
    const read = (text: string): void => {
      if (!reader.write(text)) throw new TableFault(BROKEN);
    };
    try {
      const stream: AsyncIterable<Buffer> = await this.#file.openReadStreamPromise(entry);
      for await (const piece of stream) {
        this.#unpacked += piece.length;
        if (this.#unpacked > UNPACKED_MAX_OCTETS)
          throw new TableFault("The workbook unpacks to more than 400 MB; save it as .csv.");
        decoder ??= decoderFor(piece);
        const text = decoder.decode(piece, { stream: true });
        for (let at = 0; at < text.length; at += SLICE_UNITS) {
          read(text.slice(at, at + SLICE_UNITS));
          yield;
        }
      }
      read(decoder?.decode() ?? "");
      if (!reader.end()) throw new TableFault(BROKEN);
    } catch (error) {
      throw error instanceof TableFault ? error : new TableFault(BROKEN);
    }
  }
}

function pathOf(target: string, from: string): string {
  try {
    return decodeURIComponent(new URL(target, `zip://x/${from}`).pathname.slice(1));
  } catch {
    return "";
  }
}

const decoderFor = ([first, second]: Uint8Array): InstanceType<typeof TextDecoder> =>
  new TextDecoder(
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe ? "utf-16be" : "utf-8",
  );
