import { isLikeFormula } from "../../core/batch/result-cells.ts";
import { t } from "../app/i18n.ts";
/** Reads a list that a person has: CSV or plain text, in the browser, where it stays. */

export interface Table {
  /** Names of the columns; "Column 1", ... where the file has none. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Where each row stands in the file, from 1, as a spreadsheet counts: header and blank rows included. */
  readonly places: readonly number[];
  /** What parts its columns. */
  readonly delimiter: string;
  /** Which column seems to hold the addresses. */
  readonly guess: number;
}

/** What to say of a file that `decodeFile` cannot read. */
export const NO_TEXT =
  "This file is not text. If it is a spreadsheet, save it as CSV first, and choose that file.";

/** Larger files belong to the API. */
export const FILE_MAX_BYTES = 20_000_000;

/** By the byte order mark; without one by the NUL of its first ASCII character. */
function wideEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? "utf-16be" : "utf-16le";
}

/**
 * The text of a file in UTF-16 or UTF-8, or else in Windows-1252, in which spreadsheets of western Europe write.
 * Undefined if it is not text, such as a spreadsheet's own format.
 */
export function decodeFile(bytes: Uint8Array): string | undefined {
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return new TextDecoder(wide).decode(bytes);
  if (bytes.subarray(0, BINARY_SAMPLE_BYTES).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** No text has a NUL in its first bytes; archives, as spreadsheets are, and pictures do. */
const BINARY_SAMPLE_BYTES = 4_096;

const DELIMITERS = [",", ";", "\t"] as const;

/** The delimiter that most often stands in the first lines; a list without any is one column. */
function delimiterOf(text: string): string {
  const head = text.slice(0, 10_000);
  const counts = DELIMITERS.map((sign) => head.split(sign).length);
  const most = Math.max(...counts);
  return most === 1 ? "," : (DELIMITERS[counts.indexOf(most)] ?? ",");
}

/**
 * RFC 4180, and what spreadsheets make of it: any line ends, quotes that are never closed end with the text. A
 * blank line is a row of one empty cell.
 */
export function parseRows(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const rest = new RegExp(`[^${delimiter}\\r\\n]*`, "y"); // one step of the engine, not one a character
  let at = 0;
  while (at < text.length) {
    const cell = text[at] === '"' ? quoted(text, at + 1, rest) : plain(text, at, rest);
    row.push(cell.value);
    at = cell.end;
    if (text[at] === delimiter) {
      at += 1;
      if (at === text.length) row.push("");
    } else {
      at += text.startsWith("\r\n", at) ? 2 : 1;
      rows.push(row);
      row = [];
    }
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

const isBlank = (row: readonly string[]): boolean => row.every((value) => value === "");

interface Cell {
  readonly value: string;
  /** Where the delimiter or the line's end stands. */
  readonly end: number;
}

/** `rest` matches from the given index to the cell's end. */
function plain(text: string, start: number, rest: RegExp): Cell {
  rest.lastIndex = start;
  rest.test(text);
  const end = rest.lastIndex;
  return { value: text.slice(start, end).trim(), end };
}

/** Two quotes inside stand for one; what follows the last quote up to the delimiter belongs to the cell. */
function quoted(text: string, start: number, rest: RegExp): Cell {
  let value = "";
  let from = start;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { value: value + text.slice(from), end: text.length };
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const tail = plain(text, quote + 1, rest);
      return { value: (value + tail.value).trim(), end: tail.end };
    }
    value += '"';
    from = quote + 2;
  }
}

const looksLikeEntry = (cell: string | undefined): boolean =>
  cell !== undefined && /^[^\s@]*@?[^\s@]+\.[^\s@.]{2,}$/.test(cell);

const SAMPLE_ROWS = 200;

/** Spreadsheets read the delimiter from such a first line, which is not a row of the table. */
const SAYS_DELIMITER = /^sep=([,;\t])(?=\r?\n|\r|$)/i;

/** The table of a text. Its delimiter is guessed unless it is `known`. */
export function readTable(text: string, known?: string): Table {
  const said = SAYS_DELIMITER.exec(text);
  const delimiter = known ?? said?.[1] ?? delimiterOf(text);
  return tableOf(parseRows(text, delimiter), delimiter, said === null ? 0 : 1);
}

/** The table of rows, from the one after `skip`. */
export function tableOf(all: readonly (readonly string[])[], delimiter: string, skip = 0): Table {
  const kept = [...all.keys()].slice(skip).filter((at) => !isBlank(all[at] ?? []));
  const rows = kept.map((at) => all[at] ?? []);
  const sample = rows.slice(0, SAMPLE_ROWS);
  const width = sample.reduce((most, { length }) => Math.max(most, length), 0);
  const scores = Array.from({ length: width }, (_, column) => scoreOf(sample, column));
  const guess = Math.max(0, scores.indexOf(Math.max(...scores)));
  const first = rows[0] ?? [];
  const hasHeader = rows.length > 1 && !looksLikeEntry(first[guess]);
  const header = Array.from({ length: width }, (_, at) => {
    const name = hasHeader ? (first[at] ?? "") : "";
    return name === "" ? `Column ${String(at + 1)}` : name;
  });
  const skipped = hasHeader ? 1 : 0;
  return {
    header,
    rows: rows.slice(skipped),
    places: kept.slice(skipped).map((at) => at + 1),
    delimiter,
    guess,
  };
}

/** Addresses count more than names that look like domains. */
function scoreOf(rows: readonly (readonly string[])[], column: number): number {
  return rows.reduce((score, row) => {
    const cell = row[column];
    if (!looksLikeEntry(cell)) return score;
    return score + (cell?.includes("@") === true ? 3 : 1);
  }, 0);
}

/** What was pasted: entries between commas, semicolons and white space; rows of a spreadsheet are a table. */
export function readPasted(text: string): Table {
  if (/\S\t+\S/.test(text) && text.trim().includes("\n")) return readTable(text, "\t");
  const entries = text.split(/[\s,;]+/).filter((piece) => piece !== "");
  return {
    header: [t("Entry")],
    rows: entries.map((entry) => [entry]),
    places: entries.map((_, at) => at + 1),
    delimiter: ",",
    guess: 0,
  };
}

export interface Column {
  /** One entry a line, as the server reads it. */
  readonly text: string;
  /** Different entries at the most; the server finds a few more that are the same. */
  readonly unique: number;
  readonly octets: number;
  /** Cells that held more than the entry: "mailto:" or a name around it. */
  readonly unwrapped: number;
  /** Entry -> the first row that has it, from 0. */
  readonly rowOf: ReadonlyMap<string, number>;
}

/** The file that a list came from; gone after a reload. */
export interface Source {
  readonly table: Table;
  readonly column: Column;
  /** Which of the table's columns. */
  readonly at: number;
}

/** The address in "mailto:jo@x.example?subject=Hi" and in "Jo <jo@x.example>"; other text as it is. */
export function unwrapped(text: string): string {
  const inside = /<\s*([^<>\s]+@[^<>\s]+)\s*>\s*$/.exec(text)?.[1] ?? text;
  return /^mailto:/i.test(inside) ? inside.slice("mailto:".length).replace(/\?.*$/, "") : inside;
}

const lineOf = (row: readonly string[], column: number): string =>
  (row[column] ?? "").replaceAll(/[\r\n]+/g, " ").trim();

/** A row's entry: one line, without what mail programs put around an address; "" for none. */
export const entryOf = (row: readonly string[], column: number): string =>
  unwrapped(lineOf(row, column));

/** One column of a table as a list of entries. */
export function columnOf(table: Table, column: number): Column {
  const rowOf = new Map<string, number>();
  const keys = new Set<string>();
  const entries: string[] = [];
  let unwrappedCells = 0;
  for (const [at, row] of table.rows.entries()) {
    const entry = entryOf(row, column);
    if (entry === "") continue;
    if (entry !== lineOf(row, column)) unwrappedCells += 1;
    entries.push(entry);
    keys.add(entry.toLowerCase());
    if (!rowOf.has(entry)) rowOf.set(entry, at);
  }
  const text = entries.join("\n");
  return { text, unique: keys.size, octets: octetsOf(text), unwrapped: unwrappedCells, rowOf };
}

const octetsOf = (text: string): number => new TextEncoder().encode(text).length;

/** The first so many different entries of a column, with what repeats them. */
export function firstEntries(column: Column, most: number): Column {
  const keys = new Set<string>();
  const kept: string[] = [];
  for (const entry of column.text.split("\n")) {
    const key = entry.toLowerCase();
    if (!keys.has(key) && keys.size >= most) continue;
    keys.add(key);
    kept.push(entry);
  }
  const text = kept.join("\n");
  return { ...column, text, unique: keys.size, octets: octetsOf(text) };
}

/** Octets of one request, with room below the server's 2,000,000. */
const PART_MAX_OCTETS = 1_900_000;

/** A list in parts that one request each takes, cut between entries. */
export function partsOf(text: string): readonly string[] {
  if (octetsOf(text) <= PART_MAX_OCTETS) return [text];
  const parts: string[] = [];
  let lines: string[] = [];
  let octets = 0;
  for (const line of text.split("\n")) {
    const size = octetsOf(line) + 1;
    if (octets + size > PART_MAX_OCTETS) {
      parts.push(lines.join("\n"));
      [lines, octets] = [[], 0];
    }
    lines.push(line);
    octets += size;
  }
  return [...parts, lines.join("\n")];
}

/** Whether less than half of a column's first entries look like addresses or domains. */
export function seemsWrong({ rowOf }: Column): boolean {
  const sample = [...rowOf.keys()].slice(0, SAMPLE_ROWS);
  return sample.filter(looksLikeEntry).length * 2 < sample.length;
}

/** A telephone number or a negative figure begins like a formula but is harmless. */
const FIGURE = /^[+-]?[\d\s.,()/-]+$/;

/** A cell for a spreadsheet: quoted where needed, and never a formula. */
function csvCell(value: string): string {
  const safe = isLikeFormula(value) && !FIGURE.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `delimiter` is a comma, a semicolon or a tab. */
export const csvLine = (cells: readonly string[], delimiter = ","): string =>
  `${cells.map(csvCell).join(delimiter)}\r\n`;
