import {
  NOT_READ,
  type NotedResult,
  RESULT_COLUMNS,
  type CsvCell,
  csvLine,
  resultCells,
  rowCells,
} from "../../core/batch/result-cells.ts";
import { type ListRow, padded } from "../../core/batch/list-table.ts";
import { entryClassOf } from "../../core/batch/batch-chunk.ts";
import type { ReadShape } from "../../bulk/list-file.ts";

export type TextFormat = "list" | "csv" | "ndjson";
export type FileFormat = TextFormat | "xlsx";

export function formatNamed(path: string): FileFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return ENDINGS.get(ending);
}

const ENDINGS = new Map<string, FileFormat>([
  ["csv", "csv"],
  ["tsv", "csv"],
  ["xlsx", "xlsx"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["txt", "list"],
  ["list", "list"],
]);

export const formatOfForm = { table: "csv", list: "list", objects: "ndjson" } as const;

export interface CheckedRow extends ListRow {
  readonly results: readonly NotedResult[];
  readonly isDuplicate: boolean;
}

export function fileHead(format: TextFormat, { header, delimiter }: ReadShape): string {
  return format === "csv" ? csvLine([...header, ...RESULT_COLUMNS], delimiter) : "";
}

export function rowsText(
  format: TextFormat,
  rows: readonly CheckedRow[],
  shape: ReadShape,
): string {
  return rows.map((row) => LINES[format](row, shape)).join("");
}

const LINES: Readonly<Record<TextFormat, (row: CheckedRow, shape: ReadShape) => string>> = {
  list: ({ entries, results }) =>
    entries.map((entry, at) => (isValid(results[at]) ? `${entry}\n` : "")).join(""),
  csv: (row, shape) => csvLine(cellsOf(row, shape), shape.delimiter),
  ndjson: (row, { header }) => `${withResult(objectOf(row, header), resultJson(row))}\n`,
};

export const cellsOf = (
  { cells, results, ...note }: CheckedRow,
  { header }: Pick<ReadShape, "header">,
): readonly CsvCell[] => [
  ...padded(cells, header.length),
  ...rowCells(results.map(resultCells), note),
];

const isValid = (result: NotedResult | undefined): boolean =>
  result !== undefined && entryClassOf(result) === "valid";

function resultJson({ results, reason }: CheckedRow): string {
  if (reason !== undefined) return JSON.stringify({ status: NOT_READ, message: reason });
  return JSON.stringify(results.length > 1 ? results : (results[0] ?? null));
}

/** Built as text, so that "__proto__" and repeated names stay unchanged. */
function objectOf({ cells, object }: ListRow, header: readonly string[]): string {
  if (object !== undefined) return object;
  const members = header.map(
    (name, index) => `${JSON.stringify(name)}:${JSON.stringify(cells[index] ?? "")}`,
  );
  return `{${members.join(",")}}`;
}

const withResult = (object: string, result: string): string =>
  `${object.slice(0, -1)}${/^\{\s*\}$/.test(object) ? "" : ","}"result":${result}}`;
