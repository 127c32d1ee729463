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
  /** Of a table. */
  readonly delimiter?: string;
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
      return tablePages(texts, options.column);
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
  const lines = new ObjectLines(member);
  for await (const page of pieces(texts, /\r?\n|\r/)) {
    yield { header: NO_TABLE, entries: page.flatMap((line) => lines.read(line)) };
  }
}

/** Members that may hold the entry, unless `member` is given. */
const MEMBERS = ["email", "domain", "entry", "address"];

/** The lines of NDJSON: objects with the entry as a member, or JSON texts. Throws a `TableFault` with the line's number. */
class ObjectLines {
  readonly #names: readonly string[];
  #number = 0;
  /** Whether an object had the member: then another may lack it, as a cell may be blank. */
  #isKnown = false;

  constructor(member: string | undefined) {
    this.#names = member === undefined ? MEMBERS : [member];
  }

  read(text: string): SourceEntry | [] {
    this.#number += 1;
    const line = text.trim();
    if (line === "") return [];
    const value = parsed(line);
    if (typeof value === "string") return { entry: value };
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new TableFault(`Line ${String(this.#number)} is not a JSON object or text.`);
    }
    return { entry: this.#entryOf(value), object: line };
  }

  #entryOf(value: object): string {
    for (const name of this.#names) {
      const entry: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
      if (typeof entry !== "string") continue;
      this.#isKnown = true;
      return entry.trim();
    }
    if (this.#isKnown) return "";
    const names = this.#names.map((name) => `"${name}"`).join(", ");
    throw new TableFault(
      `Line ${String(this.#number)} has no text under ${names}; name the member with --column.`,
    );
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* tablePages(
  texts: AsyncIterable<string>,
  column: string | undefined,
): AsyncGenerator<SourcePage> {
  const table = new EntryTable(column);
  let delimiter = ",";
  for await (const rows of csvRows(texts, (found) => (delimiter = found))) {
    const entries = table.add(rows);
    if (entries.length > 0) yield { header: table.header, delimiter, entries };
  }
  const entries = table.end();
  yield { header: table.header, delimiter, entries };
}
