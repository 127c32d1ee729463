import { csvLine } from "../../core/batch/csv-text.ts";
import { RESULT_COLUMNS, resultCells } from "../../core/batch/result-cells.ts";
import type { NotedResult } from "../../core/batch/entry-note.ts";
import { fateOf } from "../../core/batch/tally.ts";
import type { FileFormat, SourceEntry } from "./entry-source.ts";

/** An entry with its result; none for a row without an entry. */
export interface CheckedEntry extends SourceEntry {
  readonly result?: NotedResult;
}

/** The text of some checked entries. */
export type EntryWriter = (entries: readonly CheckedEntry[], table: TableShape) => string;

/** How the input's table looks; the output's looks the same. */
export interface TableShape {
  readonly header: readonly string[];
  readonly delimiter?: string;
}

/** The text before the first entry of a file. */
export function fileHead(format: FileFormat, { header, delimiter }: TableShape): string {
  return format === "csv" ? csvLine([...header, ...RESULT_COLUMNS], delimiter) : "";
}

/** `list` has only the valid entries, the others every entry. */
export function entryWriter(format: FileFormat): EntryWriter {
  const line = LINES[format];
  return (entries, table) => entries.map((entry) => line(entry, table)).join("");
}

type Line = (entry: CheckedEntry, table: TableShape) => string;

const LINES: Readonly<Record<FileFormat, Line>> = {
  list: ({ entry, result }) =>
    result !== undefined && fateOf(result) === "valid" ? `${entry}\n` : "",
  csv: ({ entry, cells, result }, { delimiter }) =>
    csvLine([...(cells ?? [entry]), ...resultCells(result)], delimiter),
  ndjson: (checked, { header }) =>
    `${withResult(objectOf(checked, header), JSON.stringify(checked.result ?? null))}\n`,
};

/** Built as text, so that "__proto__" and repeated names stay unchanged. */
function objectOf({ entry, cells, object }: SourceEntry, header: readonly string[]): string {
  if (object !== undefined) return object;
  if (cells === undefined) return `{"entry":${JSON.stringify(entry)}}`;
  const members = header.map(
    (name, index) => `${JSON.stringify(name)}:${JSON.stringify(cells[index] ?? "")}`,
  );
  return `{${members.join(",")}}`;
}

/** The JSON of an object with one more member at its end. */
const withResult = (object: string, result: string): string =>
  `${object.slice(0, -1)}${/^\{\s*\}$/.test(object) ? "" : ","}"result":${result}}`;
