import {
  type NotedResult,
  RESULT_COLUMNS,
  csvCells,
  csvLine,
  isNoted,
  resultCells,
  rowCells,
} from "../../core/batch/result-cells.ts";
import type { BulkResults, FileFacts, RowResult, SpelledResult } from "../../bulk/bulk.ts";
import { resultCsv } from "./result-csv.ts";
import { framed } from "./streamed.ts";

type Finished = Extract<BulkResults, { readonly kind: "results" }>;

/**
 * `{"session", "stats", "results"}`. The map is written by hand: one key for each spelling in their order,
 * which an object of ours would lose for "7.example" and "__proto__".
 */
export function resultsJson(
  { stats, results }: Pick<Finished, "stats" | "results">,
  facts?: FileFacts,
): AsyncGenerator<string> {
  return framed(results(), jsonMember, {
    head: `{"session":${JSON.stringify(stats.session)},"stats":${JSON.stringify(stats)},"results":{`,
    between: ",",
    tail: `}${facts === undefined ? "" : `,${JSON.stringify(facts).slice(1, -1)}`}}`,
  });
}

const jsonMember = ({ spelling, result }: SpelledResult): string =>
  `${JSON.stringify(spelling)}:${result}`;

/** RFC 4180 with a header row: the columns of the upload, or the entry, then those of the result. */
export function resultsCsv({ results, table }: Finished, mark: boolean): AsyncGenerator<string> {
  const frame = (columns: readonly string[]): Parameters<typeof framed>[2] => ({
    head: (mark ? BYTE_ORDER_MARK : "") + csvLine([...columns, ...RESULT_COLUMNS]),
    between: "",
    tail: "",
  });
  const cellsOf = resultCsv();
  const line = ({ cells, results: texts, ...note }: RowResult): string => {
    const [only = ""] = texts;
    if (texts.length === 1 && !isNoted(note)) return `${csvCells(cells)},${cellsOf(only)}\r\n`;
    const noted = texts.map((text) => JSON.parse(text) as NotedResult);
    return csvLine([...cells, ...rowCells(noted.map(resultCells), note)]);
  };
  return table === undefined
    ? framed(
        results(),
        ({ spelling, result, ...note }) => line({ cells: [spelling], results: [result], ...note }),
        frame(["entry"]),
      )
    : framed(table.rows(), line, frame(table.header));
}

/** By it spreadsheets know UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";
