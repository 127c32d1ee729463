import { trimEntry } from "../../core/address/address.ts";
import { CsvReader, type RawRow } from "../../core/batch/csv-reader.ts";
import { TableFault, entriesOf, kindOfCell } from "../../core/batch/entry-cell.ts";
import {
  type ListForm,
  type ListRow,
  type ListShape,
  ListTable,
  SAMPLE_CELLS,
  SAMPLE_ROWS,
} from "../../core/batch/list-table.ts";
import { compoundFault, faultOfForm, FileText, kindOfFile } from "./file-text.ts";
import { isVcard, jsonForm, linesOf, objectRows, vcardRows } from "./record-rows.ts";
import { type Sheet, Workbook } from "./workbook.ts";

export type FileSlices = AsyncIterable<Uint8Array>;

export const FILE_MAX_OCTETS = 20_000_000;

export interface ListOptions {
  /** As its sender calls it: a hint, the content decides. */
  readonly name?: string;
  /** Number (from 1) or name of the column; absent: found by its name, else by what it holds. */
  readonly column?: string;
  /** Name or number (from 1) of the sheet; absent: the visible one with the most entries. */
  readonly sheet?: string;
  /** A label of the Encoding Standard; absent: UTF-8, UTF-16 or Windows-1252, whichever it is. */
  readonly encoding?: string;
}

export interface ReadShape extends ListShape {
  readonly form: ListForm;
  readonly encoding: string;
  /** Of a text: how its lines end, whether it begins with a byte order mark, and with a line `sep=;`. */
  readonly lineEnd?: string;
  readonly hasMark?: boolean;
  readonly isSaid?: boolean;
  readonly sheet?: string;
  readonly otherSheets?: readonly string[];
  readonly sheets?: readonly string[];
  /** Columns of the sheet up to the last that holds something, as far as it is read. */
  readonly width?: number;
}

export interface ListPage {
  readonly shape: ReadShape;
  readonly rows: readonly ListRow[];
}

/** Reads text, CSV, JSON, vCard or .xlsx. At least one page unless the file is empty. Throws a `TableFault`. */
export async function* readListFile(
  slices: FileSlices,
  options: ListOptions,
): AsyncGenerator<ListPage> {
  const { first, all } = await begun(slices, SIGNATURE_OCTETS);
  const kind = kindOfFile(Buffer.concat(first.map((slice) => slice.subarray(0, SIGNATURE_OCTETS))));
  if (kind === "compound") throw await compoundFault(all);
  if (kind === "zip") yield* workbookPages(all, options);
  else yield* textPages(all, options);
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

const HEAD_UNITS = 65_536;

async function* textPages(slices: FileSlices, options: ListOptions): AsyncGenerator<ListPage> {
  const text = new FileText(options.encoding);
  const { first, all } = await begun(text.read(slices), HEAD_UNITS);
  const head = first.join("");
  const { form, delimiter, rows, isSaid } = formOf(head, options);
  const lineEnd = ["\r\n", "\n", "\r"].find((end) => head.includes(end));
  yield* pagesOf(rows(all), new ListTable(form, delimiter, options.column), () => ({
    form,
    encoding: text.encoding,
    ...(text.hasMark && { hasMark: true }),
    ...(isSaid === true && { isSaid }),
    ...(lineEnd !== undefined && { lineEnd }),
  }));
}

async function* pagesOf(
  raw: AsyncIterable<readonly RawRow[]>,
  table: ListTable,
  more: () => Omit<ReadShape, keyof ListShape>,
): AsyncGenerator<ListPage> {
  const page = (rows: readonly ListRow[]): readonly ListPage[] =>
    table.shape === undefined ? [] : [{ shape: { ...table.shape, ...more() }, rows }];
  for await (const rows of raw) {
    const read = table.add(rows);
    if (read.length > 0) yield* page(read);
  }
  yield* page(table.end());
}

type TextPieces = AsyncIterable<string>;

interface Form {
  readonly form: ListForm;
  readonly delimiter: string;
  readonly isSaid?: boolean;
  readonly rows: (texts: TextPieces) => AsyncGenerator<readonly RawRow[]>;
}

const DELIMITERS = [",", ";", "\t", "|"];

/** The names of columns that R puts above a table, with blanks between them. */
const R_TABLE = /^"[^"\r\n]*"(?: "[^"\r\n]*")+\r?\n/;

interface Guess extends Regular {
  readonly delimiter: string;
  readonly rows: readonly RawRow[];
}

function formOf(head: string, { name = "", column }: ListOptions): Form {
  const said = /^sep=([,;|\t])(?:\r\n|\r|\n)/i.exec(head)?.[1];
  if (said !== undefined) {
    const rows = (texts: TextPieces) => csvRows(texts, said, { from: 2 });
    return { form: "table", delimiter: said, isSaid: true, rows };
  }
  const fault = faultOfForm(head);
  if (fault !== undefined) throw fault;
  if (isVcard(head)) return { form: "table", delimiter: ",", rows: vcardRows };
  const json = jsonForm(head);
  if (json !== undefined) {
    const form = json === "rows" ? "table" : "objects";
    return { form, delimiter: ",", rows: (texts) => objectRows(texts, json) };
  }
  const quote = isSingleQuoted(head) ? "'" : '"';
  const best = (R_TABLE.test(head) ? [" "] : DELIMITERS)
    .map((delimiter) => guessOf(head, delimiter, quote))
    .reduce((a, b) => (b.count > a.count || (b.count === a.count && b.width > a.width) ? b : a));
  const isNamed = /\.(?:csv|tsv|tab)$/i.test(name);
  const delimiter = best.count > 0 ? best.delimiter : ",";
  const inside = best.count > 0 ? undefined : delimiterInside(best.rows);
  if (inside !== undefined)
    return { form: "table", delimiter: inside, rows: (texts) => rowsInCells(texts, inside) };
  const rows = (texts: TextPieces) => csvRows(texts, delimiter, { quote });
  const table: Form = { form: "table", delimiter, rows };
  if (column !== undefined) return table;
  const list: Form = { form: "list", delimiter: ",", rows: textRows };
  if (isOneRow(best.rows) || isMailList(head)) return list;
  return isNamed || (isTable(best) && !isAllEntries(best.rows)) ? table : list;
}

function guessOf(head: string, delimiter: string, quote: string): Guess {
  const reader = new CsvReader(delimiter, quote);
  const whole = reader.push(head);
  const isCut = head.length >= HEAD_UNITS;
  const last = isCut && whole.length > 0 ? [] : reader.end();
  const all = [...whole, ...(isCut ? last.map(withoutLastCell) : last)];
  const rows = withoutRules(all.slice(0, SAMPLE_ROWS), delimiter);
  return { delimiter, rows, ...regular(rows) };
}

const withoutLastCell = (row: RawRow): RawRow =>
  row.cells.length > 1 ? { ...row, cells: row.cells.slice(0, -1) } : row;

/** Rows of one cell each, which is quoted and holds a row: what divides that. */
function delimiterInside(rows: readonly RawRow[]): string | undefined {
  const [head = "", ...body] = rows.map(({ cells }) => cells[0] ?? "");
  const isSplit = (sign: string): boolean =>
    head.includes(sign) && body.every((cell) => cell.includes(sign));
  if (body.length === 0 || kindOfCell(head) !== "other") return undefined;
  return DELIMITERS.find(isSplit);
}

async function* rowsInCells(
  texts: TextPieces,
  delimiter: string,
): AsyncGenerator<readonly RawRow[]> {
  for await (const rows of csvRows(texts, ",", {}))
    yield rows.map((row) => {
      const reader = new CsvReader(delimiter);
      const inner = [...reader.push(row.cells.join(",")), ...reader.end()];
      return { ...row, cells: inner[0]?.cells ?? [] };
    });
}

/** Lines that database clients and Markdown draw between and below the rows of a table. */
const RULE = /^[\s|:+=-]*$/;
const FOOT = /^\(?\d+ rows?\b/;

function withoutRules(rows: readonly RawRow[], delimiter: string): readonly RawRow[] {
  if (delimiter !== "|") return rows;
  return rows.filter(({ cells }) => {
    const text = cells.join("|");
    return !(RULE.test(text) && text.includes("--")) && !FOOT.test(text);
  });
}

function isTable({ rows, first, count, width }: Guess): boolean {
  // Lines above the first row of the table count for nothing unless an address is among them.
  const above = rows.slice(0, first).flatMap(({ cells }) => cells);
  const ignored = above.some((cell) => kindOfCell(cell) === "address") ? 0 : first;
  return count * 2 > rows.length - ignored && width > 1;
}

const isAllEntries = (rows: readonly RawRow[]): boolean =>
  rows.every(({ cells }) => cells.every((cell) => cell === "" || kindOfCell(cell) !== "other"));

function isOneRow(rows: readonly RawRow[]): boolean {
  const [row, ...more] = rows;
  const cells = (row?.cells ?? []).filter((cell) => trimEntry(cell) !== "");
  return (
    more.length === 0 && cells.length > 1 && cells.every((cell) => kindOfCell(cell) === "address")
  );
}

/** Lines of addresses with names, as mail programs write them: "Ash, Jo <jo@x>; Elm, An <an@x>". */
function isMailList(head: string): boolean {
  if (!head.includes("<")) return false;
  const lines = head.split(/[\r\n]+/, SAMPLE_ROWS).filter((line) => trimEntry(line) !== "");
  const whole = head.length < HEAD_UNITS || lines.length < 2 ? lines : lines.slice(0, -1);
  const entries = whole.flatMap((line) => entriesOf(line, { isLine: true }));
  const isCut = head.length >= HEAD_UNITS && lines.length < 2;
  return (isCut ? entries.slice(0, -1) : entries).every((entry) => kindOfCell(entry) === "address");
}

function isSingleQuoted(head: string): boolean {
  const line = /^[^\r\n]*/.exec(trimEntry(head))?.[0] ?? "";
  const cells = line.split(/[,;|\t]/, 1_000);
  return cells.length > 1 && cells.every((cell) => /^\s*'[^']*'\s*$/.test(cell));
}

interface Regular {
  readonly count: number;
  readonly first: number;
  readonly width: number;
}

/** How many rows have as many cells as most rows with more than one, and the first of them. */
function regular(rows: readonly RawRow[]): Regular {
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
  texts: TextPieces,
  delimiter: string,
  { quote, from = 1 }: { readonly quote?: string; readonly from?: number },
): AsyncGenerator<readonly RawRow[]> {
  const reader = new CsvReader(delimiter, quote);
  const read = (rows: readonly RawRow[]): readonly RawRow[] =>
    withoutRules(from > 1 ? rows.filter(({ line }) => line >= from) : rows, delimiter);
  for await (const text of texts) yield read(reader.push(text));
  yield read(reader.end());
}

async function* textRows(texts: TextPieces): AsyncGenerator<readonly RawRow[]> {
  let number = 0;
  let rows: RawRow[] = [];
  for await (const lines of linesOf(texts)) {
    for (const line of lines) {
      number += 1;
      for (const cell of entriesOf(line, { isLine: true })) {
        if (rows.push({ cells: [cell], line: number }) < SLICE_ROWS) continue;
        yield rows;
        rows = [];
      }
    }
  }
  yield rows;
}

/** A line may have a million entries. */
const SLICE_ROWS = 1_000;

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
  yield* pagesOf(workbook.rows(chosen), new ListTable("table", ",", column), () => ({
    form: "table",
    encoding: "utf-8",
    sheet: chosen.name,
    otherSheets,
    sheets: sheets.map(({ name }) => name),
    width: workbook.width,
  }));
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

/** The one with the most entries on its first rows; a hidden one only when no visible one has entries. */
async function likeliestSheet(workbook: Workbook, column = ""): Promise<Sheet> {
  const wanted = trimEntry(column).toLowerCase();
  let best: { readonly sheet: Sheet; readonly count: number } | undefined;
  for (const sheet of workbook.sheets.slice(0, SHEETS_MAX)) {
    const cells: string[] = [];
    let rows = 0;
    for await (const some of workbook.rows(sheet)) {
      for (const row of some.slice(0, SAMPLE_ROWS)) for (const cell of row.cells) cells.push(cell);
      rows += some.length;
      if (rows >= SAMPLE_ROWS || cells.length >= SAMPLE_CELLS) break;
    }
    const isNamed = column !== "" && cells.some((cell) => trimEntry(cell).toLowerCase() === wanted);
    const worth = cells.reduce((sum, cell) => sum + WORTH[kindOfCell(cell)], isNamed ? 1e6 : 0);
    const count = sheet.isHidden ? worth / 1e9 : worth;
    if (best === undefined || count > best.count) best = { sheet, count };
  }
  if (best === undefined) throw new TableFault("The workbook has no sheet with cells.");
  return best.sheet;
}

const WORTH = { address: 1_000, domain: 1, other: 0 } as const;
