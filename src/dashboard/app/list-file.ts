/** Reads a list that a person has: CSV or plain text, in the browser, where it stays. */

export interface Table {
  /** Names of the columns; "Column 1", ... where the file has none. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Which column seems to hold the addresses. */
  readonly guess: number;
}

/** Larger files belong to the API. */
export const FILE_MAX_BYTES = 20_000_000;

const UTF16 = [
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
] as const;

/** The text of a file by its byte order mark; UTF-8 without one. */
export function decodeFile(bytes: Uint8Array): string {
  const wide = UTF16.find(([, first, second]) => bytes[0] === first && bytes[1] === second);
  return new TextDecoder(wide?.[0] ?? "utf-8").decode(bytes);
}

const DELIMITERS = [",", ";", "\t"] as const;

/** The delimiter that most often stands in the first lines; a list without any is one column. */
function delimiterOf(text: string): string {
  const head = text.slice(0, 10_000);
  const counts = DELIMITERS.map((sign) => head.split(sign).length);
  const most = Math.max(...counts);
  return most === 1 ? "," : (DELIMITERS[counts.indexOf(most)] ?? ",");
}

/** RFC 4180, and what spreadsheets make of it: any line ends, quotes that are never closed end with the text. */
export function parseRows(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const cell = text[at] === '"' ? quoted(text, at + 1, delimiter) : plain(text, at, delimiter);
    row.push(cell.value);
    at = cell.end;
    if (text[at] === delimiter) {
      at += 1;
      if (at === text.length) row.push("");
    } else {
      at += text.startsWith("\r\n", at) ? 2 : 1;
      if (row.some((value) => value !== "")) rows.push(row);
      row = [];
    }
  }
  if (row.some((value) => value !== "")) rows.push(row);
  return rows;
}

interface Cell {
  readonly value: string;
  /** Where the delimiter or the line's end stands. */
  readonly end: number;
}

function plain(text: string, start: number, delimiter: string): Cell {
  let end = start;
  while (end < text.length && !isEnd(text[end], delimiter)) end += 1;
  return { value: text.slice(start, end).trim(), end };
}

const isEnd = (sign: string | undefined, delimiter: string): boolean =>
  sign === delimiter || sign === "\n" || sign === "\r";

/** Two quotes inside stand for one; what follows the last quote up to the delimiter belongs to the cell. */
function quoted(text: string, start: number, delimiter: string): Cell {
  let value = "";
  let from = start;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { value: value + text.slice(from), end: text.length };
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const tail = plain(text, quote + 1, delimiter);
      return { value: (value + tail.value).trim(), end: tail.end };
    }
    value += '"';
    from = quote + 2;
  }
}

const looksLikeEntry = (cell: string | undefined): boolean =>
  cell !== undefined && /^[^\s@]*@?[^\s@]+\.[^\s@.]{2,}$/.test(cell);

const SAMPLE_ROWS = 200;

/** The table of a file's text. */
export function readTable(text: string): Table {
  const rows = parseRows(text, delimiterOf(text));
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
  return { header, rows: hasHeader ? rows.slice(1) : rows, guess };
}

/** Addresses count more than names that look like domains. */
function scoreOf(rows: readonly (readonly string[])[], column: number): number {
  return rows.reduce((score, row) => {
    const cell = row[column];
    if (!looksLikeEntry(cell)) return score;
    return score + (cell?.includes("@") === true ? 3 : 1);
  }, 0);
}

/** What was pasted: entries between commas, semicolons and white space. */
export function readPasted(text: string): Table {
  const entries = text.split(/[\s,;]+/).filter((piece) => piece !== "");
  return { header: ["Entry"], rows: entries.map((entry) => [entry]), guess: 0 };
}

export interface Column {
  /** One entry a line, as the server reads it. */
  readonly text: string;
  /** Different entries at the most; the server finds a few more that are the same. */
  readonly unique: number;
  readonly octets: number;
  /** Entry -> the first row that has it, from 0. */
  readonly rowOf: ReadonlyMap<string, number>;
}

/** One column of a table as a list of entries. */
export function columnOf({ rows }: Table, column: number): Column {
  const rowOf = new Map<string, number>();
  const keys = new Set<string>();
  const entries: string[] = [];
  for (const [at, row] of rows.entries()) {
    const entry = (row[column] ?? "").replaceAll(/[\r\n]+/g, " ").trim();
    if (entry === "") continue;
    entries.push(entry);
    keys.add(entry.toLowerCase());
    if (!rowOf.has(entry)) rowOf.set(entry, at);
  }
  const text = entries.join("\n");
  return { text, unique: keys.size, octets: new TextEncoder().encode(text).length, rowOf };
}

/** A cell for a spreadsheet: quoted where needed, and never a formula. */
function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;
