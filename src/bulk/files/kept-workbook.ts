import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import { TableFault } from "../../core/batch/entry-cell.ts";
import type { RowClass } from "../../core/batch/row-class.ts";
import { MovedRows } from "../../core/batch/moved-rows.ts";
import { type CleanedOrder, type CleanedRow, cleanedRows } from "../lists/cleaned-rows.ts";
import { type ListOrder, type ListSource, type ListView, slicesOf } from "../lists/list-view.ts";
import {
  attributeOf,
  type ChangeTag,
  PartWriter,
  withAttribute,
  type Writer,
} from "./part-writer.ts";
import { SheetWriter } from "./sheet-writer.ts";
import { type Contents, contentsOf } from "./workbook.ts";
import type { TokenKind } from "./xml-reader.ts";
import { BROKEN, linksOf, Zip } from "./zip.ts";

const PIECE_OCTETS = 262_144;

/** The workbook that came, with rows of other classes taken out and our columns added, in pieces. */
export async function* keptWorkbook(
  order: ListOrder & CleanedOrder,
  source: ListSource,
  view: ListView,
): AsyncGenerator<Uint8Array> {
  const octets: Uint8Array[] = [];
  for await (const slice of slicesOf(source)) octets.push(slice);
  const zip = await Zip.open(Buffer.concat(octets));
  const changes = new Changes(cleanedRows(order, source, view));
  const { last, writers, left } = await plannedParts(zip, order, view, changes);
  const made = new ZipFile();
  const output = made.outputStream as Readable;
  made.on("error", (error: Error) => output.destroy(error));
  const isLast = ({ fileName }: { readonly fileName: string }): boolean =>
    fileName.toLowerCase() === last;
  const parts = zip.parts.filter(({ fileName }) => !left.has(fileName.toLowerCase()));
  for (const part of [...parts.filter((each) => !isLast(each)), ...parts.filter(isLast)]) {
    const { fileName, compressionMethod } = part;
    const written = writers.get(fileName.toLowerCase()) ?? copied;
    const options = { mtime: part.getLastModDate(), compress: compressionMethod !== 0 };
    made.addReadStreamLazy(fileName, options, (give) => {
      const stream = Readable.from(written(zip, fileName), { objectMode: false });
      stream.once("error", (error) => output.destroy(error));
      give(undefined, stream);
    });
  }
  made.end();
  yield* inPieces(output);
}

async function* inPieces(output: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const chunk of output) {
    kept.push(chunk);
    length += chunk.length;
    if (length < PIECE_OCTETS) continue;
    const whole = Buffer.concat(kept);
    let at = 0;
    for (; whole.length - at >= PIECE_OCTETS; at += PIECE_OCTETS)
      yield whole.subarray(at, at + PIECE_OCTETS);
    [kept, length] = [[whole.subarray(at)], whole.length - at];
  }
  yield Buffer.concat(kept);
}

type WritePart = (zip: Zip, path: string) => AsyncGenerator<string | Uint8Array>;

const copied: WritePart = (zip, path) => zip.octets(path);

const by = (writer: Writer, ahead?: () => Promise<void>): WritePart =>
  async function* (zip, path) {
    let isFirst = true;
    await ahead?.();
    for await (const _ of zip.events(path, { token: (...token) => writer.token(...token) })) {
      const text = writer.take();
      if (text !== "") yield isFirst ? inUtf8(text) : text;
      isFirst = false;
      await ahead?.();
    }
    yield writer.take();
  };

const inUtf8 = (text: string): string => text.replace(/(encoding=["'])UTF-16/i, "$1UTF-8");

interface PartsPlan {
  readonly writers: ReadonlyMap<string, WritePart>;
  readonly left: ReadonlySet<string>;
  /** What is written once it is known which shared texts the sheets still use. */
  readonly last: string;
}

async function plannedParts(
  zip: Zip,
  order: CleanedOrder,
  { rows, shape }: ListView,
  changes: Changes,
): Promise<PartsPlan> {
  const contents = await contentsOf(zip);
  const { path: book, sheets } = contents;
  const sheet = sheets.find(({ name }) => name === shape.sheet);
  if (sheet === undefined) throw new TableFault(BROKEN);
  const links = await zip.relationships(sheet.path);
  const moves = new MovedRows(await rowsOut(zip, links, rows, new Set(order.classes)), sheet.name);
  const texts = new UsedTexts();
  const { isAgain = false, header, width = 0 } = shape;
  const start = isAgain ? header.length : Math.max(header.length, width);
  const terms = { moves, start, isAgain, used: (text: number) => texts.use(text) };
  const writers = new Map<string, WritePart>();
  const set = (path: string, write: WritePart): void => void writers.set(path.toLowerCase(), write);
  for (const other of sheets) set(other.path, by(new SheetWriter(terms)));
  const next = (line: number): CleanedRow | undefined => changes.next(line);
  set(
    sheet.path,
    by(new SheetWriter({ ...terms, next }), () => changes.fill()),
  );
  const last = partOf(contents, "sharedStrings");
  set(last, by(texts));
  if (moves.isNone) return { writers, left: new Set(), last: last.toLowerCase() };
  for (const { type, path } of links) {
    if (MOVING.has(type)) set(path, by(new PartWriter(moves, true)));
    if (type === "vmlDrawing") set(path, notesOf(moves));
  }
  for (const { fileName } of zip.parts)
    if (/\/charts\/[^/]*\.xml$/i.test(fileName)) set(fileName, by(new PartWriter(moves, false)));
  set(book, by(new PartWriter(moves, false, computedAgain)));
  set(linksOf(book), by(new PartWriter(moves, false, unchained)));
  set("[Content_Types].xml", by(new PartWriter(moves, false, unchained)));
  const chain = partOf(contents, "calcChain").toLowerCase();
  return { writers, left: new Set([chain]), last: last.toLowerCase() };
}

/** Parts of a sheet that name its cells. */
const MOVING = new Set(["table", "comments", "threadedComment"]);

const partOf = ({ parts }: Contents, wanted: string): string =>
  parts.find(({ type }) => type === wanted)?.path ?? "";

const unchained: ChangeTag = (name, tag) => (isOfChain(name, tag) ? undefined : tag);

/** Spreadsheet programs write down in which order they compute, and do so again when it is missing. */
const isOfChain = (name: string, tag: string): boolean =>
  (name === "Relationship" && attributeOf(tag, "Type")?.endsWith("/calcChain") === true) ||
  (name === "Override" && attributeOf(tag, "ContentType")?.endsWith(".calcChain+xml") === true);

const computedAgain: ChangeTag = (name, tag) =>
  name === "calcPr"
    ? withAttribute(tag, "fullCalcOnLoad", undefined).replace(/\/?>$/, ' fullCalcOnLoad="1"$&')
    : tag;

async function rowsOut(
  zip: Zip,
  links: Contents["parts"],
  rows: ListView["rows"],
  kept: ReadonlySet<RowClass>,
): Promise<readonly number[]> {
  const fixed = new Set<number>();
  for (const { type, path } of links) if (type === "table") await fixRows(zip, path, fixed);
  const out = rows.filter((row) => !kept.has(row.class) && !fixed.has(row.line));
  return out.map(({ line }) => line);
}

/** A table keeps its header and its row of totals. */
async function fixRows(zip: Zip, path: string, fixed: Set<number>): Promise<void> {
  await zip.parse(path, {
    open: (name, attributes) => {
      if (name !== "table") return;
      const { ref = "", headerRowCount = "1", totalsRowCount = "0" } = attributes();
      const [first = "", last = ""] = ref.match(/\d+/g) ?? [];
      if (headerRowCount !== "0") fixed.add(Number(first));
      if (totalsRowCount !== "0") fixed.add(Number(last));
    },
  });
}

/** Rows of a slice of XML, and some. */
const AHEAD_ROWS = 2_000;

/** What changes in the rows of the list, read ahead of the sheet that is written. */
class Changes {
  readonly #pages: AsyncGenerator<readonly CleanedRow[]>;
  #rows: CleanedRow[] = [];
  #at = 0;
  #isDone = false;

  constructor(pages: AsyncGenerator<readonly CleanedRow[]>) {
    this.#pages = pages;
  }

  async fill(): Promise<void> {
    if (this.#rows.length - this.#at >= AHEAD_ROWS || this.#isDone) return;
    this.#rows = this.#rows.slice(this.#at);
    this.#at = 0;
    while (this.#rows.length < AHEAD_ROWS && !this.#isDone) {
      const { done = false, value } = await this.#pages.next();
      if (done) this.#isDone = true;
      else for (const row of value as readonly CleanedRow[]) if (row.line > 0) this.#rows.push(row);
    }
  }

  next(line: number): CleanedRow | undefined {
    const row = this.#rows[this.#at];
    if (row !== undefined && row.line < line) throw new TableFault(BROKEN);
    if (row?.line !== line) return undefined;
    this.#at += 1;
    return row;
  }
}

const TEXTS_MAX = 4_000_000;

/** Writes the shared texts without those that stood only in rows that are taken out. */
class UsedTexts implements Writer {
  readonly #used = new Uint8Array(TEXTS_MAX);
  #text = "";
  #index = 0;
  #isLeft = false;

  use(text: number): void {
    this.#used[text] = 1;
  }

  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  token(kind: TokenKind, name: string | undefined, xml: string): void {
    if (name === "si" && kind === "open") {
      this.#isLeft = this.#used[this.#index] !== 1;
      this.#index += 1;
      this.#text += xml;
    } else if (name === "si" && kind === "empty") {
      this.#index += 1;
      this.#text += xml;
    } else if (name === "si") {
      if (this.#isLeft) this.#text += xml.replace(/^<\/([^:>]*:)?.*/s, "<$1t/>");
      this.#isLeft = false;
      this.#text += xml;
    } else if (!this.#isLeft) this.#text += xml;
  }
}

const NOTES_MAX_OCTETS = 20_000_000;
const SHAPE_END = "</v:shape>";

/** Places of the notes' boxes, in the language of old (VML), which is often no XML. */
const notesOf = (moves: MovedRows): WritePart =>
  async function* (zip, path) {
    const octets: Buffer[] = [];
    let length = 0;
    for await (const piece of zip.octets(path)) {
      octets.push(piece);
      length += piece.length;
      if (length > NOTES_MAX_OCTETS) throw new TableFault(BROKEN);
    }
    const shapes = Buffer.concat(octets).toString().split(SHAPE_END);
    for (const [at, shape] of shapes.entries()) {
      const start = shape.lastIndexOf("<v:shape ");
      const row =
        Number(/<x:Row>(\d+)<\/x:Row>/.exec(shape.slice(Math.max(0, start)))?.[1] ?? -1) + 1;
      const end = at === shapes.length - 1 ? "" : SHAPE_END;
      if (start < 0 || row === 0) yield shape + end;
      else if (moves.has(row)) yield shape.slice(0, start);
      else
        yield shape.replace(/<x:Row>\d+(?=<\/x:Row>)/, `<x:Row>${String(moves.at(row) - 1)}`) + end;
    }
  };
