import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { MovedRows } from "../../core/batch/moved-rows.ts";
import { type CleanedOrder, rowChanges, type RowChanges } from "../lists/cleaned-rows.ts";
import { type ListOrder, type ListSource, type ListView, slicesOf } from "../lists/list-view.ts";
import { FORMULA, movedElement, OF_FORMULA, SHEET_PARTS, SheetWriter } from "./sheet-writer.ts";
import { decoded, encoded } from "./sheet-xml.ts";
import { type Contents, contentsOf } from "./workbook.ts";
import { BROKEN_WORKBOOK, linksOf, type Relationship, Zip } from "./zip.ts";

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
  const { writers, texts } = await changedParts(
    zip,
    order,
    view,
    await rowChanges(order, source, view),
  );
  const made = new ZipFile();
  const output = made.outputStream as Readable;
  made.on("error", (error: Error) => output.destroy(error));
  const isLast = (path: string): number => Number(path.toLowerCase() === texts);
  for (const part of [...zip.parts].sort((a, b) => isLast(a.fileName) - isLast(b.fileName))) {
    const { fileName, compressionMethod } = part;
    const options = { mtime: part.getLastModDate(), compress: compressionMethod !== 0 };
    const write = writers.get(fileName.toLowerCase());
    if (write === "left out") continue;
    made.addReadStreamLazy(fileName, options, (give) => {
      const written = write === undefined ? zip.octets(fileName) : write();
      const stream = Readable.from(written, { objectMode: false });
      stream.once("error", (error) => output.destroy(error));
      give(undefined, stream);
    });
  }
  made.end();
  let kept: Buffer[] = [];
  let length = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    kept.push(chunk);
    length += chunk.length;
    if (length < PIECE_OCTETS) continue;
    yield Buffer.concat(kept);
    [kept, length] = [[], 0];
  }
  yield Buffer.concat(kept);
}

type WritePart = (() => AsyncGenerator<string>) | "left out";

interface ChangedParts {
  readonly writers: ReadonlyMap<string, WritePart>;
  /** Written last, once it is known which texts the sheets still use. */
  readonly texts: string;
}

async function changedParts(
  zip: Zip,
  order: CleanedOrder,
  { rows, shape }: ListView,
  { names, changeOf }: RowChanges,
): Promise<ChangedParts> {
  const contents = await contentsOf(zip);
  const sheet = contents.sheets.find(({ name }) => name === shape.sheet);
  if (sheet === undefined) throw new TableFault(BROKEN_WORKBOOK);
  const links = await zip.relationships(sheet.path);
  const fixed = await rowsOfTables(zip, links);
  const classes = new Set(order.classes);
  const kept = rows.filter(({ class: name }) => classes.has(name));
  const out = rows.filter(({ class: name, line }) => !classes.has(name) && !fixed.has(line));
  const moves = new MovedRows(out.map(({ line }) => line));
  const used = new UsedTexts();
  const { isAgain = false, header, width = 0, headLine } = shape;
  const head = headLine === undefined ? [] : [headLine];
  const writer = new SheetWriter({
    moves,
    lines: [...head, ...kept.map(({ line }) => line)],
    change: (at) => {
      const row = kept[at - head.length];
      return row === undefined ? { changed: [], added: names } : changeOf(row);
    },
    start: isAgain ? header.length : Math.max(header.length, width),
    isAgain,
    note: (row, isOut) => used.note(row, isOut),
  });
  const writers = new Map<string, WritePart>();
  const set: SetWriter = (path, elements, change) =>
    void writers.set(path.toLowerCase(), () => changedText(zip.pieces(path, elements), change));
  set(sheet.path, SHEET_PARTS, (piece) => writer.write(piece));
  const texts = partOf(contents, "sharedStrings");
  if (moves.isNone) return { writers, texts };
  setMoved(set, contents, links, moves);
  for (const other of contents.sheets) {
    if (other === sheet) continue;
    const formulas = new PointingFormulas(moves, sheet.name);
    set(other.path, "row", (piece) => {
      used.note(piece, false);
      return formulas.moved(piece);
    });
  }
  set(texts, "si", (piece) => used.text(piece));
  writers.set(partOf(contents, "calcChain"), "left out");
  return { writers, texts };
}

type SetWriter = (path: string, elements: string, change: (piece: string) => string) => void;

const partOf = ({ parts }: Contents, wanted: string): string =>
  parts.find(({ type }) => type === wanted)?.path.toLowerCase() ?? "";

async function* changedText(
  pieces: AsyncIterable<readonly string[]>,
  change: (piece: string) => string,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const some of pieces) {
    const text = some.map(change).join("");
    yield isFirst ? text.replace(/(encoding=["'])UTF-16/i, "$1UTF-8") : text;
    isFirst &&= some.length === 0;
  }
}

/** Parts beside the sheets that name rows, or the order in which cells are computed. */
function setMoved(
  set: SetWriter,
  { path: book }: Contents,
  links: readonly Relationship[],
  moves: MovedRows,
): void {
  for (const { type, path } of links) {
    if (type === "comments" || type === "threadedComment")
      set(path, "comment|threadedComment", (piece) => movedElement(piece, moves).xml);
    if (type === "vmlDrawing") set(path, "shape", (piece) => movedNote(piece, moves));
    if (type === "table") set(path, "table", (piece) => movedTable(piece, moves));
  }
  const unchained = (piece: string): string => {
    const tag = piece.lastIndexOf("<");
    return piece.includes("calcChain", tag) ? piece.slice(0, tag) : piece;
  };
  set(linksOf(book), "Relationship", unchained);
  set("[Content_Types].xml", "Default|Override", unchained);
  set(book, "calcPr", computedAgain);
}

/** Formulas of other sheets have values of rows that are gone. */
const computedAgain = (piece: string): string =>
  piece.replace(/<(?:\w+:)?calcPr\b[^<>]*/, (tag) =>
    tag
      .replace(/\sfullCalcOnLoad\s*=\s*["'][^"']*["']/, "")
      .replace("calcPr", 'calcPr fullCalcOnLoad="1"'),
  );

/** A table keeps its header and its row of totals. */
async function rowsOfTables(
  zip: Zip,
  links: readonly Relationship[],
): Promise<ReadonlySet<number>> {
  const fixed = new Set<number>();
  for (const { type, path } of links) {
    if (type !== "table") continue;
    await zip.eachElement(path, "table", ({ attributes }) => {
      const { ref = "", headerRowCount = "1", totalsRowCount = "0" } = attributes;
      const [first = "", last = ""] = ref.match(/\d+/g) ?? [];
      if (headerRowCount !== "0") fixed.add(Number(first));
      if (totalsRowCount !== "0") fixed.add(Number(last));
    });
  }
  return fixed;
}

/** A table has a row below its header, which may be blank. */
const movedTable = (xml: string, moves: MovedRows): string =>
  xml.replace(/(\sref\s*=\s*["'])([A-Z]+\d+:[A-Z]+\d+)/g, (_, start: string, range: string) => {
    const moved = moves.range(range) ?? range;
    const [, first = "", row, end = "", last] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(moved) ?? [];
    return (
      start + (row === last ? `${first}${String(row)}:${end}${String(Number(row) + 1)}` : moved)
    );
  });

/** The place of a note's box, in the language of old (VML), which is often no XML. */
function movedNote(piece: string, moves: MovedRows): string {
  const [whole, row] = /<x:Row>(\d+)<\/x:Row>/.exec(piece) ?? [];
  if (whole === undefined) return piece;
  const line = Number(row) + 1;
  if (moves.has(line)) return piece.slice(0, Math.max(0, piece.search(/<v:shape\s/)));
  return piece.replace(whole, `<x:Row>${String(moves.at(line) - 1)}</x:Row>`);
}

const SHARED = /\ssi\s*=\s*["'](\d+)/;

/** Formulas of another sheet, which name cells of the one whose rows move. Where one of these is gone, the value stays. */
class PointingFormulas {
  readonly #moves: MovedRows;
  readonly #sheet: string;
  /** Numbers of formulas that cells share, each with cells of its own. */
  readonly #shared = new Set<string>();

  constructor(moves: MovedRows, sheet: string) {
    this.#moves = moves;
    this.#sheet = sheet;
  }

  moved(row: string): string {
    let isOut = false;
    const moved = row.replace(FORMULA, (xml: string, _: string, tag: string, text = "") => {
      const number = SHARED.exec(tag)?.[1];
      const before = decoded(text);
      const after = this.#moves.formula(before, this.#sheet);
      if (number !== undefined && after !== before) this.#shared.add(number);
      const isGone = after === undefined || this.#shared.has(number ?? "");
      isOut ||= isGone;
      return isGone ? "" : after === before ? xml : xml.replace(text, () => encoded(after));
    });
    return isOut ? moved.replace(OF_FORMULA, "$1") : moved;
  }
}

const TEXTS_MAX = 4_000_000;

/** Shared texts without those that stood in rows that are taken out, and nowhere else. */
class UsedTexts {
  readonly #isUsed = new Uint8Array(TEXTS_MAX);
  readonly #isOut = new Uint8Array(TEXTS_MAX);
  #index = 0;

  note(row: string, isOut: boolean): void {
    const noted = isOut ? this.#isOut : this.#isUsed;
    for (const [, text] of row.matchAll(
      /\st\s*=\s*["']s["'][^<>]{0,500}>\s*<(?:\w+:)?v\b[^<>]*>(\d+)/g,
    ))
      noted[Number(text)] = 1;
  }

  text(piece: string): string {
    const start = piece.search(/<(?:\w+:)?si\b/);
    if (start < 0) return piece;
    const at = this.#index++;
    if (this.#isOut[at] !== 1 || this.#isUsed[at] === 1) return piece;
    const prefix = /^<(\w+:)?/.exec(piece.slice(start))?.[1] ?? "";
    return `${piece.slice(0, start)}<${prefix}si><${prefix}t/></${prefix}si>`;
  }
}
