import { looksLikeEntry } from "../../core/batch/csv-column.ts";
import { detectDelimiter } from "../../core/batch/csv-reader.ts";
import { EntryTable } from "../../core/batch/entry-table.ts";
import { TableFault } from "../../core/batch/table-fault.ts";
import { csvRows } from "../../service/bulk/file-text.ts";

/** How entries are written in a file: split at commas and white space, in a column, one JSON text a line. */
export type FileFormat = "list" | "csv" | "ndjson";

export interface SourceEntry {
  /** "" when the row has none. */
  readonly entry: string;
  /** Of a table: all its cells. */
  readonly cells?: readonly string[];
  /** Of NDJSON: the object that the entry is a member of, as it was written. */
  readonly object?: string;
}

/** Some entries in their order. */
export interface SourcePage {
  /** Column names; only "entry" when the source is not a table. */
  readonly header: readonly string[];
  readonly entries: readonly SourceEntry[];
}

export interface SourceOptions {
  readonly format: FileFormat;
  /** Name or number of the column, or the member of each object. */
  readonly column?: string;
}

/** The format by the file's name; undefined if the name does not tell. */
export function formatNamed(path: string): FileFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return ENDINGS.get(ending);
}

const ENDINGS = new Map<string, FileFormat>([
  ["csv", "csv"],
  ["tsv", "csv"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["txt", "list"],
  ["list", "list"],
]);

/** By the name of the file, otherwise by its first characters. */
export function formatOf(path: string, head: string): FileFormat {
  const named = formatNamed(path);
  if (named !== undefined) return named;
  if (/^\s*\{/.test(head)) return "ndjson";
  const line = /^[^\r\n]*/.exec(head)?.[0] ?? "";
  const cells = line.split(detectDelimiter(line));
  return cells.length > 1 && !cells.every(looksLikeEntry) ? "csv" : "list";
}

/** The entries of a text, page by page. Throws a `TableFault` for what cannot be read. */
export function entryPages(
  texts: AsyncIterable<string>,
  options: SourceOptions,
): AsyncGenerator<SourcePage> {
  switch (options.format) {
    case "list":
      return listPages(texts);
    case "csv":
      return tablePages(csvRows(texts), options.column);
    case "ndjson":
      return objectPages(texts, options.column);
  }
}

/** Longest piece between two separators, as in a bulk request. */
const PIECE_MAX_UNITS = 2_000_000;

const NO_TABLE = ["entry"];

/** The pieces between separators; the last one may continue in the next text. */
async function* pieces(
  texts: AsyncIterable<string>,
  separator: RegExp,
): AsyncGenerator<readonly string[]> {
  let tail = "";
  for await (const text of texts) {
    const parts = (tail + text).split(separator);
    tail = parts.pop() ?? "";
    if (tail.length > PIECE_MAX_UNITS) {
      throw new TableFault(`An entry is longer than ${String(PIECE_MAX_UNITS)} characters.`);
    }
    yield parts;
  }
  yield [tail];
}

async function* listPages(texts: AsyncIterable<string>): AsyncGenerator<SourcePage> {
  for await (const page of pieces(texts, /[ ,\t\r\n]+/)) {
    const entries = page.filter((entry) => entry !== "").map((entry) => ({ entry }));
    yield { header: NO_TABLE, entries };
  }
}

async function* objectPages(
  texts: AsyncIterable<string>,
  member: string | undefined,
): AsyncGenerator<SourcePage> {
  for await (const page of pieces(texts, /[\r\n]+/)) {
    const lines = page.filter((line) => line.trim() !== "");
    yield { header: NO_TABLE, entries: lines.map((line) => entryOfLine(line.trim(), member)) };
  }
}

/** Members that may hold the entry, unless `member` is given. */
const MEMBERS = ["email", "domain", "entry", "address"];

/** A line that is not JSON, or has no entry, is checked as it is: no line is skipped silently. */
function entryOfLine(line: string, member: string | undefined): SourceEntry {
  const value = parsed(line);
  if (typeof value === "string") return { entry: value };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { entry: line };
  const names = member === undefined ? MEMBERS : [member];
  for (const name of names) {
    const entry: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    if (typeof entry === "string") return { entry, object: line };
  }
  return { entry: line };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* tablePages(
  pages: AsyncIterable<readonly (readonly string[])[]>,
  column: string | undefined,
): AsyncGenerator<SourcePage> {
  const table = new EntryTable(column);
  for await (const rows of pages) {
    const entries = table.add(rows);
    if (entries.length > 0) yield { header: table.header, entries };
  }
  const entries = table.end();
  yield { header: table.header, entries };
}
