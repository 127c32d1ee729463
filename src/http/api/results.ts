import { Readable } from "node:stream";
import type { Log } from "../../base/log.ts";
import { turn } from "../../base/slices.ts";
import type { BulkResults, FileFacts, RowResult, SpelledResult } from "../../bulk/bulk.ts";
import {
  csvCells,
  csvLine,
  isNoted,
  type NotedResult,
  RESULT_COLUMNS,
  resultCells,
  rowCells,
} from "../../core/batch/result-cells.ts";
import type { FullResult } from "../../core/validate/result.ts";

type Finished = Extract<BulkResults, { readonly kind: "results" }>;

/** The map is written by hand: an object would lose the order of "7.example" and the key "__proto__". */
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

const BYTE_ORDER_MARK = "\ufeff";

/** How a well-formed entry's result begins. Nothing in a well-formed domain is escaped. */
const BEFORE_DOMAIN = '{"format":true,"domain":"';

const DOMAIN_AT = RESULT_COLUMNS.indexOf("domain");

/** Beyond it, results are read one by one. */
const KEPT_MAX = 512;

/**
 * The cells of a result, from its JSON. What stands behind the domain decides every other cell, and is the same for
 * thousands of results of a list: reading it once takes a third of the time.
 */
export function resultCsv(): (result: string) => string {
  const kept = new Map<string, (domain: string) => string>();
  return (result) => {
    const end = result.indexOf('"', BEFORE_DOMAIN.length);
    const domain = result.slice(BEFORE_DOMAIN.length, end);
    if (!result.startsWith(BEFORE_DOMAIN) || domain.includes("\\")) return csvCells(read(result));
    const rest = result.slice(end);
    const known = kept.get(rest);
    if (known !== undefined) return known(domain);
    const cells = around(read(result));
    if (kept.size < KEPT_MAX) kept.set(copied(rest), cells);
    return cells(domain);
  };
}

const read = (result: string) => resultCells(JSON.parse(result) as FullResult);

function around(cells: ReturnType<typeof read>): (domain: string) => string {
  const before = csvCells(cells.slice(0, DOMAIN_AT));
  const behind = csvCells(cells.slice(DOMAIN_AT + 1));
  return (domain) => `${before},${csvCells([domain])},${behind}`;
}

/** V8 keeps the whole page of results in memory for a part of it. */
const copied = (part: string): string => Buffer.from(part).toString();

/** Text is handed on in pieces of about this many UTF-16 code units. */
const PIECE_UNITS = 65_536;

export interface Frame {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
}

/** One text for each item, framed, in pieces of about 64 KiB, independent of the page size. */
export async function* framed<T>(
  pages: AsyncIterable<readonly T[]>,
  write: (item: T) => string,
  { head, between, tail }: Frame,
): AsyncGenerator<string> {
  let text = head;
  let separator = "";
  for await (const page of pages) {
    for (const item of page) {
      text += separator + write(item);
      separator = between;
      if (text.length < PIECE_UNITS) continue;
      yield text;
      text = "";
    }
  }
  yield text + tail;
}

/** Made as fast as the client reads. A fault is logged here and cuts the connection: the status is already sent. */
export function streamed(texts: AsyncGenerator<string>, log: Log): Readable {
  return Readable.from(watched(texts, log), { objectMode: false });
}

async function* watched(texts: AsyncGenerator<string>, log: Log): AsyncGenerator<string> {
  try {
    for await (const text of texts) {
      if (text !== "") yield text;
      // A fast reader would otherwise keep everybody else waiting until its body is whole.
      await turn();
    }
  } catch (error) {
    log.error("http.body_failed", error);
    throw error;
  }
}
