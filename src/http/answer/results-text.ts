import { csvLine } from "../../core/batch/csv-text.ts";
import { RESULT_COLUMNS, resultCells } from "../../core/batch/result-cells.ts";
import type { FullResult } from "../../core/validate/result.ts";
import type { BulkResults, BulkStats, RowResult, SpelledResult } from "../../service/bulk/bulk.ts";
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
  return table === undefined
    ? framed(results(), spelledLine, frame(["entry"]))
    : framed(table.rows(), rowLine, frame(table.header));
}

const spelledLine = ({ spelling, result }: SpelledResult): string => line([spelling], result);

const rowLine = ({ cells, result }: RowResult): string => line(cells, result);

function line(cells: readonly string[], result: string | undefined): string {
  const checked = result === undefined ? undefined : (JSON.parse(result) as FullResult);
  return csvLine([...cells, ...resultCells(checked)]);
}
