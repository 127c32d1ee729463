import { csvCells, csvLine } from "../../core/batch/csv-text.ts";
import { RESULT_COLUMNS } from "../../core/batch/result-cells.ts";
import type { BulkResults, BulkStats, SpelledResult } from "../../service/bulk/bulk.ts";
import { resultCsv } from "./result-csv.ts";
import { framed } from "./streamed.ts";

type Finished = Extract<BulkResults, { readonly kind: "results" }>;

/**
 * `{"session", "stats", "results"}`. The map is written by hand: one key for each spelling in their order,
 * which an object of ours would lose for "7.example" and "__proto__".
 */
export function resultsJson({
  stats,
  results,
}: Pick<Finished, "stats" | "results">): AsyncGenerator<string> {
  return framed(results(), jsonMember, {
    head: `{"session":${JSON.stringify(stats.session)},"stats":${statsJson(stats)},"results":{`,
    between: ",",
    tail: "}}",
  });
}

export const statsJson = (stats: BulkStats): string => JSON.stringify(stats);

const jsonMember = ({ spelling, result }: SpelledResult): string =>
  `${JSON.stringify(spelling)}:${result}`;

/** RFC 4180 with a header row: the columns of the upload, or the entry, then those of the result. */
export function resultsCsv({ results, table }: Finished): AsyncGenerator<string> {
  const frame = (columns: readonly string[]): Parameters<typeof framed>[2] => ({
    head: csvLine([...columns, ...RESULT_COLUMNS]),
    between: "",
    tail: "",
  });
  const cellsOf = resultCsv();
  const line = (cells: readonly string[], result: string | undefined): string =>
    `${csvCells(cells)},${cellsOf(result)}\r\n`;
  return table === undefined
    ? framed(results(), ({ spelling, result }) => line([spelling], result), frame(["entry"]))
    : framed(table.rows(), ({ cells, result }) => line(cells, result), frame(table.header));
}
