import { trimEntry } from "../core/address/address.ts";
import { CELL_MAX_UNITS, COLUMNS_MAX, CsvReader, type RawRow } from "../core/batch/csv-reader.ts";
import { TableFault, entriesOf, kindOfCell } from "../core/batch/entry-cell.ts";
import {
  type ListForm,
  type ListRow,
  type ListShape,
  ListTable,
  SAMPLE_ROWS,
} from "../core/batch/list-table.ts";
import { type Sheet, Workbook } from "./workbook.ts";

/** A file in slices, each at most some 64 KiB, at the reader's pace. */
export type FileSlices = AsyncIterable<Uint8Array>;

/** Largest upload, and largest workbook, in octets. */
export const FILE_MAX_OCTETS = 20_000_000;

export interface ListOptions {
  /** As its sender calls it: a hint, the content decides. */
  readonly name?: string;
  /** Name or number (from 1) of the column; absent: found by its name, else by what it holds. */
  readonly column?: string;
  /** Name or number (from 1) of the sheet; absent: the one with the most entries. */
  readonly sheet?: string;
}

export interface ReadShape extends ListShape {
  readonly form: ListForm;
  readonly sheet?: string;
  readonly otherSheets?: readonly string[];
  readonly sheets?: readonly string[];
}

export interface ListPage {
  readonly shape: ReadShape;
  readonly rows: readonly ListRow[];
}

/** Reads text, CSV, JSON lines or .xlsx. At least one page unless the file is empty. Throws a `TableFault`. */
export async function* readListFile(
  slices: FileSlices,
  options: ListOptions,
): AsyncGenerator<ListPage> {
  const { first, all } = await begun(slices, SIGNATURE_OCTETS);
  const kind = signatureOf(first.map((slice) => slice.subarray(0, SIGNATURE_OCTETS)));
  if (kind !== undefined && kind !== "zip") throw new TableFault(kind);
  if (kind === "zip") yield* workbookPages(all, options);
  else yield* textPages(fileText(all), options);
}

const SIGNATURE_OCTETS = 16;

/** The first pieces, at least `length` long together unless they end before, and all of them. */
async function begun<T extends { readonly length: number }>(
  pieces: AsyncIterable<T>,
  length: number,
): Promise<{ readonly first: readonly T[]; readonly all: AsyncIterable<T> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first: T[] = [];
  for (let left = length; left > 0; left -= first.at(-1)?.length ?? 0) {
    const step = await iterator.next();
    if (step.done === true) break;
    first.push(step.value);
  }
  async function* all(): AsyncGenerator<T> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { first, all: all() };
}

const OTHER = "save it as .csv or .xlsx and send that";

/** First octets in hex of files that are no text, and what to do. */
const SIGNATURES: readonly (readonly [hex: string, what: string])[] = [
  ["504b0304", "zip"],
  ["504b0506", "zip"],
  ["1f8b", "The file is compressed with gzip; unpack it first: zcat FILE > list.csv."],
  ["425a68", "The file is compressed with bzip2; unpack it first: bzcat FILE > list.csv."],
  ["fd377a585a00", "The file is compressed with xz; unpack it first: xzcat FILE > list.csv."],
  ["28b52ffd", "The file is compressed with zstd; unpack it first: zstdcat FILE > list.csv."],
  ["377abcaf271c", "The file is a 7z archive; unpack it first."],
  ["52617221", "The file is a rar archive; unpack it first."],
  ["d0cf11e0a1b11ae1", `The file is an old Excel or Word file; ${OTHER}.`],
  ["25504446", `The file is a PDF; ${OTHER}.`],
  ["89504e47", "The file is an image (PNG), not a list."],
  ["ffd8ff", "The file is an image (JPEG), not a list."],
  ["47494638", "The file is an image (GIF), not a list."],
  ["53514c69746520666f726d6174", `The file is a SQLite database; ${OTHER}.`],
  ["50415231", `The file is a Parquet file; ${OTHER}.`],
  ["fffe0000", "The file is UTF-32; convert it first: iconv -f UTF-32 -t UTF-8 FILE > list.csv."],
  ["0000feff", "The file is UTF-32; convert it first: iconv -f UTF-32 -t UTF-8 FILE > list.csv."],
];

function signatureOf(head: readonly Uint8Array[]): string | undefined {
  const hex = Buffer.concat(head).toString("hex");
  const known = SIGNATURES.find(([start]) => hex.startsWith(start))?.[1];
  if (known !== undefined) return known;
  const isWide = /^(?:[0-9a-f]{2}000000){2}|^(?:000000[0-9a-f]{2}){2}/.test(hex);
  return isWide ? SIGNATURES.at(-1)?.[1] : undefined;
}

/** By the byte order mark; without one UTF-16 shows by the NUL of its first ASCII character. */
function wideEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? "utf-16be" : "utf-16le";
}

const STRETCH_MAX_OCTETS = 1_000_000;

/** The text of a file without its byte order mark; what is not UTF-8 is Windows-1252, line by line. */
async function* fileText(slices: FileSlices): AsyncGenerator<string> {
  let wide: InstanceType<typeof TextDecoder> | undefined;
  let kept: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const slice of slices) {
    if (slice.length === 0) continue;
    kept =
      kept.length === 0
        ? Buffer.from(slice.buffer, slice.byteOffset, slice.length)
        : Buffer.concat([kept, slice]);
    if (isFirst) {
      if (kept.length < 2) continue;
      const encoding = wideEncoding(kept);
      if (encoding !== undefined) wide = new TextDecoder(encoding, { fatal: true });
      else if (kept[0] === 0xef && kept[1] === 0xbb && kept[2] === 0xbf) kept = kept.subarray(3);
      isFirst = false;
    }
    if (wide !== undefined) {
      yield decoded(wide, kept);
      kept = Buffer.alloc(0);
      continue;
    }
    let end = kept.length;
    while (end > 0 && (kept[end - 1] ?? 0) >= 0x80) end -= 1; // UTF-8 is whole behind an ASCII octet
    if (end === 0 && kept.length > STRETCH_MAX_OCTETS) throw new TableFault(NO_TEXT);
    if (end > 0) yield narrow(kept.subarray(0, end));
    kept = Buffer.from(kept.subarray(end));
  }
  if (wide !== undefined) yield decoded(wide);
  else if (kept.length > 0) yield narrow(kept);
}

const NO_TEXT =
  "The file is not text in UTF-8, UTF-16 or Windows-1252. Convert it first, for example: iconv -f SHIFT_JIS -t UTF-8 FILE > list.csv.";
const NUL = "The file has a NUL octet, which no text has. Save it as text in UTF-8.";

function decoded(decoder: InstanceType<typeof TextDecoder>, octets?: Uint8Array): string {
  try {
    const text = octets === undefined ? decoder.decode() : decoder.decode(octets, { stream: true });
    if (text.includes("\0")) throw new TableFault(NUL);
    return text;
  } catch (error) {
    throw error instanceof TableFault ? error : new TableFault(NO_TEXT);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const windows1252 = new TextDecoder("windows-1252");

function narrow(octets: Buffer): string {
  if (octets.includes(0)) throw new TableFault(NUL);
  try {
    return utf8.decode(octets);
  } catch {
    const lines = octets.toString("latin1").split(/(?<=[\r\n])/);
    return lines.map(lineText).join("");
  }
}

/**
 * Controls, octets without a meaning in Windows-1252, and more than one of the two that are rare there and lead in every
 * second letter of Shift_JIS.
 */
const MEANINGLESS = /[^\t-\r -\x80\x82-\x8c\x8e\x91-\x9c\x9e-\xff]|[\x82\x83].*[\x82\x83]/s;

/** `line` has a character for each octet. */
function lineText(line: string): string {
  const octets = Buffer.from(line, "latin1");
  try {
    return utf8.decode(octets);
  } catch {
    if (MEANINGLESS.test(line)) throw new TableFault(NO_TEXT);
    return windows1252.decode(octets);
  }
}

const HEAD_UNITS = 65_536;

async function* textPages(
  texts: AsyncIterable<string>,
  options: ListOptions,
): AsyncGenerator<ListPage> {
  const { first, all } = await begun(texts, HEAD_UNITS);
  const { form, delimiter, isSaid } = formOf(first.join(""), options);
  const table = new ListTable(form, delimiter, options.column);
  const rows =
    form === "table"
      ? csvRows(all, delimiter, isSaid)
      : form === "objects"
        ? objectRows(all)
        : textRows(all);
  yield* pagesOf(rows, table, { form });
}

async function* pagesOf(
  raw: AsyncIterable<readonly RawRow[]>,
  table: ListTable,
  more: Omit<ReadShape, keyof ListShape>,
): AsyncGenerator<ListPage> {
  const page = (rows: readonly ListRow[]): readonly ListPage[] =>
    table.shape === undefined ? [] : [{ shape: { ...table.shape, ...more }, rows }];
  for await (const rows of raw) {
    const read = table.add(rows);
    if (read.length > 0) yield* page(read);
  }
  yield* page(table.end());
}

interface Form {
  readonly form: ListForm;
  readonly delimiter: string;
  /** By its first line. */
  readonly isSaid: boolean;
}

const DELIMITERS = [",", ";", "\t", "|"];

function formOf(head: string, { name = "", column }: ListOptions): Form {
  const said = /^sep=([,;|\t])(?:\r\n|\r|\n)/i.exec(head);
  if (said !== null) return { form: "table", delimiter: said[1] ?? ",", isSaid: true };
  const start = /^\s*(.*)/.exec(head)?.[1] ?? "";
  if (isJsonLine(start)) return { form: "objects", delimiter: ",", isSaid: false };
  const isWhole = head.length < HEAD_UNITS;
  const guesses = DELIMITERS.map((delimiter) => {
    const reader = new CsvReader(delimiter);
    const rows = [...reader.push(head), ...(isWhole ? reader.end() : [])].slice(0, SAMPLE_ROWS);
    return { delimiter, rows, ...regular(rows) };
  });
  const best = guesses.reduce((a, b) =>
    b.count > a.count || (b.count === a.count && b.width > a.width) ? b : a,
  );
  const isNamed = /\.(?:csv|tsv|tab)$/i.test(name);
  // Lines above the first row of the table count for nothing unless an address is among them.
  const above = best.rows.slice(0, best.first).flatMap(({ cells }) => cells);
  const ignored = above.some((cell) => kindOfCell(cell) === "address") ? 0 : best.first;
  const isTable = best.count * 2 > best.rows.length - ignored && best.width > 1;
  const isEntries = best.rows.every(({ cells }) =>
    cells.every((cell) => cell === "" || kindOfCell(cell) !== "other"),
  );
  if (isTable && (isNamed || column !== undefined || !isEntries))
    return { form: "table", delimiter: best.delimiter, isSaid: false };
  if (isNamed || column !== undefined)
    return { form: "table", delimiter: best.count > 0 ? best.delimiter : ",", isSaid: false };
  return { form: "list", delimiter: ",", isSaid: false };
}

/** How many rows have as many cells as most rows with more than one, and the first of them. */
function regular(rows: readonly RawRow[]) {
  const counts = new Map<number, { count: number; first: number }>();
  for (const [first, { cells }] of rows.entries()) {
    const known = counts.get(cells.length) ?? { count: 0, first };
    if (cells.length > 1) counts.set(cells.length, { ...known, count: known.count + 1 });
  }
  let best = { count: 0, first: 0, width: 1 };
  for (const [width, known] of counts) if (known.count > best.count) best = { ...known, width };
  return best;
}

async function* csvRows(
  texts: AsyncIterable<string>,
  delimiter: string,
  isSaid: boolean,
): AsyncGenerator<readonly RawRow[]> {
  const reader = new CsvReader(delimiter);
  const table = (rows: readonly RawRow[]): readonly RawRow[] =>
    isSaid ? rows.filter(({ line }) => line > 1) : rows;
  for await (const text of texts) yield table(reader.push(text));
  yield table(reader.end());
}

const LINE_MAX_UNITS = 2_000_000;

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let tail = "";
  for await (const text of texts) {
    const whole = tail + text;
    // A CR at the end may be the first half of a line break.
    const end = whole.endsWith("\r") ? whole.length - 1 : whole.length;
    const lines = whole.slice(0, end).split(/\r\n|\r|\n/);
    tail = (lines.pop() ?? "") + whole.slice(end);
    if (tail.length > LINE_MAX_UNITS) {
      const cut = Math.max(tail.lastIndexOf(" "), tail.lastIndexOf(","), tail.lastIndexOf(";")) + 1;
      if (cut === 0)
        throw new TableFault(`A line is longer than ${String(LINE_MAX_UNITS)} characters.`);
      yield [...lines, tail.slice(0, cut)];
      tail = tail.slice(cut);
      continue;
    }
    yield lines;
  }
  yield tail.split(/\r\n|\r|\n/);
}

/** The entries of plain text: a line that is one entry, or what stands between commas, semicolons and white space. */
async function* textRows(texts: AsyncIterable<string>): AsyncGenerator<readonly RawRow[]> {
  let number = 0;
  for await (const lines of linesOf(texts)) {
    const rows: RawRow[] = [];
    for (const line of lines) {
      number += 1;
      for (const cell of piecesOf(line)) rows.push({ cells: [cell], line: number });
    }
    yield rows;
  }
}

/** "Jo Ash <jo@x>" is one piece, "jo@x, an@y" are two. */
function piecesOf(line: string): readonly string[] {
  const text = trimEntry(line);
  if (text === "") return [];
  if (!/[\s,;]/.test(text)) return [text];
  const [first, ...more] = text.length > CELL_MAX_UNITS ? ["", ""] : entriesOf(text);
  if (more.length === 0 && first !== undefined && first !== text && kindOfCell(first) !== "other")
    return [text];
  if (more.length > 0 && /^"|</.test(text)) return [text];
  const parts = text
    .split(/[,;]/)
    .map(trimEntry)
    .filter((part) => part !== "");
  return parts.flatMap((part) => {
    if (!/\s/.test(part) || /<[^<>\s]+>$/.test(part) || /\s*[([{<]\s*at\s*[)\]}>]\s*/i.test(part))
      return [part];
    return part.split(/\s+/);
  });
}

function isJsonLine(line: string): boolean {
  if (!/^(?:\{|")/.test(line)) return false;
  const value = jsonOf(line);
  if (value === undefined) return /^\{\s*"/.test(line);
  return typeof value === "object" || line.includes("@");
}

/** JSON lines as a table: the members of the first objects name the columns. */
async function* objectRows(texts: AsyncIterable<string>): AsyncGenerator<readonly RawRow[]> {
  const sample: Parsed[] = [];
  let names: readonly string[] | undefined;
  let number = 0;
  for await (const lines of linesOf(texts)) {
    const rows: RawRow[] = [];
    for (const line of lines) {
      number += 1;
      const text = trimEntry(line);
      if (text === "") continue;
      const parsed = parsedLine(text, number);
      if (names !== undefined) rows.push(rowOf(parsed, names));
      else if (sample.push(parsed) === SAMPLE_ROWS) {
        names = namesOf(sample);
        rows.push(...sampleRows(sample, names));
      }
    }
    yield rows;
  }
  if (names === undefined && sample.length > 0) yield sampleRows(sample, namesOf(sample));
}

/** A line that is a JSON text has no members: the text is its entry. */
interface Parsed extends Omit<RawRow, "cells"> {
  readonly members: ReadonlyMap<string, string>;
}

function namesOf(sample: readonly Parsed[]): readonly string[] {
  const names = new Set(sample.flatMap(({ members }) => [...members.keys()]));
  return names.size === 0 ? ["entry"] : [...names].slice(0, COLUMNS_MAX);
}

const sampleRows = (sample: readonly Parsed[], names: readonly string[]): readonly RawRow[] => [
  { cells: names, line: 0 },
  ...sample.map((each) => rowOf(each, names)),
];

function parsedLine(text: string, line: number): Parsed {
  const value = jsonOf(text);
  if (typeof value === "string") return { line, members: new Map(), text: value };
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const fault = `Line ${String(line)} is not a JSON object or text.`;
    return { line, members: new Map(), text, fault };
  }
  const members = Object.entries(value).map(([name, member]): [string, string] => [
    name,
    typeof member === "string" ? member : member === null ? "" : JSON.stringify(member),
  ]);
  return { line, members: new Map(members), object: text };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function rowOf({ members, ...row }: Parsed, names: readonly string[]): RawRow {
  const cells = names.map((name) => members.get(name) ?? "");
  const more = [...members.keys()].filter((name) => !names.includes(name)).slice(0, 5);
  if (more.length === 0) return { ...row, cells };
  const fault = `Line ${String(row.line)} has members that the first ${String(SAMPLE_ROWS)} lines do not have: ${more.join(", ")}.`;
  return { fault, ...row, cells };
}

async function* workbookPages(
  slices: FileSlices,
  { column, sheet = "" }: ListOptions,
): AsyncGenerator<ListPage> {
  const chunks: Uint8Array[] = [];
  let octets = 0;
  for await (const slice of slices) {
    octets += slice.length;
    if (octets > FILE_MAX_OCTETS)
      throw new TableFault("The workbook is larger than 20,000,000 octets; save it as .csv.");
    chunks.push(slice);
  }
  const workbook = await Workbook.open(Buffer.concat(chunks));
  chunks.length = 0;
  const { sheets } = workbook;
  const chosen = sheet === "" ? await likeliestSheet(workbook, column) : namedSheet(sheets, sheet);
  const otherSheets = sheets.filter((each) => each !== chosen).map(({ name }) => name);
  yield* pagesOf(workbook.rows(chosen.path), new ListTable("table", ",", column), {
    form: "table",
    sheet: chosen.name,
    otherSheets,
    sheets: sheets.map(({ name }) => name),
  });
}

function namedSheet(sheets: readonly Sheet[], wanted: string): Sheet {
  const name = wanted.trim().toLowerCase();
  const found =
    sheets.find((sheet) => sheet.name.trim().toLowerCase() === name) ??
    (/^[1-9]\d{0,3}$/.test(name) ? sheets[Number(name) - 1] : undefined);
  if (found !== undefined) return found;
  throw new TableFault(
    `There is no sheet of that name; there are ${sheets.map((sheet) => sheet.name).join(", ")}.`,
  );
}

const SHEETS_MAX = 50;

async function likeliestSheet(workbook: Workbook, column = ""): Promise<Sheet> {
  const wanted = trimEntry(column).toLowerCase();
  let best: { readonly sheet: Sheet; readonly count: number } | undefined;
  for (const sheet of workbook.sheets.slice(0, SHEETS_MAX)) {
    const rows: RawRow[] = [];
    for await (const some of workbook.rows(sheet.path)) {
      rows.push(...some.slice(0, SAMPLE_ROWS));
      if (rows.length >= SAMPLE_ROWS) break;
    }
    const cells = rows.flatMap((row) => row.cells);
    const isNamed = column !== "" && cells.some((cell) => trimEntry(cell).toLowerCase() === wanted);
    const count = cells.reduce((sum, cell) => sum + WORTH[kindOfCell(cell)], isNamed ? 1e6 : 0);
    if (best === undefined || count > best.count) best = { sheet, count };
  }
  if (best === undefined) throw new TableFault("The workbook has no sheet with cells.");
  return best.sheet;
}

const WORTH = { address: 1_000, domain: 1, other: 0 } as const;
