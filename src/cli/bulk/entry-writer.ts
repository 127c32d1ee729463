import {
  NOT_READ,
  type NotedResult,
  RESULT_COLUMNS,
  type CsvCell,
  resultCells,
  rowCells,
} from "../../core/batch/result-cells.ts";
import { type ListRow, padded } from "../../core/batch/list-table.ts";
import { entryClassOf } from "../../core/batch/batch-chunk.ts";
import type { ReadShape } from "../../bulk/files/list-file.ts";
import { outText } from "../../bulk/files/out-text.ts";

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

/** Text of pages: CSV as the file that was read has it, or for Excel; the others in UTF-8. */
export function textWriter(
  format: TextFormat,
  shape: ReadShape,
  isForExcel: boolean,
): (rows: readonly CheckedRow[]) => Uint8Array | string {
  const { header } = shape;
  if (format !== "csv") {
    const lines = LINES[format];
    return (rows: readonly CheckedRow[]) => rows.map((row) => lines(row, header)).join("");
  }
  const { head, line, encode } = outText(shape, isForExcel);
  let start = head + line([...header, ...RESULT_COLUMNS]);
  return (rows: readonly CheckedRow[]) => {
    const text = encode(start + rows.map((row) => line(cellsOf(row, shape))).join(""));
    start = "";
    return text;
  };
}

const LINES = {
  list: ({ entries, results }: CheckedRow) =>
    entries.map((entry, at) => (isValid(results[at]) ? `${entry}\n` : "")).join(""),
  ndjson: (row: CheckedRow, header: readonly string[]) =>
    `${withResult(objectOf(row, header), resultJson(row))}\n`,
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
