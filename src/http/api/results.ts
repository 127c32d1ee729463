import { Readable } from "node:stream";
import type { Log } from "../../base/log.ts";
import { nextSlice } from "../../base/slices.ts";
import type { BulkResults, FileFactsJson, RowResult } from "../../bulk/jobs/bulk-shapes.ts";
import { padded } from "../../core/batch/list-table.ts";
import {
  type CsvCell,
  csvLine,
  type NotedResult,
  RESULT_COLUMNS,
  resultCells,
  rowCells,
} from "../../core/batch/result-cells.ts";

export type Finished = Extract<BulkResults, { readonly kind: "results" }>;

/** The map is written by hand: an object would lose the order of "7.example" and the key "__proto__". */
export function resultsJson(
  { stats, results }: Pick<Finished, "stats" | "results">,
  facts?: FileFactsJson,
): AsyncGenerator<string> {
  return framed(results(), ({ spelling, result }) => `${JSON.stringify(spelling)}:${result}`, {
    head: `{"session":${JSON.stringify(stats.session)},"stats":${JSON.stringify(stats)},"results":{`,
    between: ",",
    tail: `}${facts === undefined ? "" : `,${JSON.stringify(facts).slice(1, -1)}`}}`,
  });
}

export function resultsCsv(finished: Finished, mark: boolean): AsyncGenerator<string> {
  const delimiter = finished.table?.delimiter ?? ",";
  return framed(resultRows(finished), (row) => csvLine(row, delimiter), {
    head: mark ? BYTE_ORDER_MARK : "",
    between: "",
    tail: "",
  });
}

/** A row with names, then one for each row of the upload, or for each entry: its cells, and those of its results. */
export async function* resultRows({
  results,
  table,
}: Finished): AsyncGenerator<readonly (readonly CsvCell[])[]> {
  const header = table?.header ?? ["entry"];
  yield [[...header, ...RESULT_COLUMNS]];
  const row = ({ cells, results: texts, ...note }: RowResult): readonly CsvCell[] => {
    const noted = texts.map((text) => JSON.parse(text) as NotedResult);
    return [...padded(cells, header.length), ...rowCells(noted.map(resultCells), note)];
  };
  if (table !== undefined) {
    for await (const rows of table.rows()) yield rows.map(row);
    return;
  }
  for await (const page of results())
    yield page.map(({ spelling, result, ...note }) =>
      row({ cells: [spelling], results: [result], ...note }),
    );
}

const BYTE_ORDER_MARK = "\ufeff";

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

/** A CSV of a whole log; `read` gives the cells of the page behind a place, and the place behind it. */
export async function* csvPages(
  names: readonly string[],
  read: (
    after: string | undefined,
  ) => Promise<{ readonly rows: readonly (readonly CsvCell[])[]; readonly next: string | null }>,
): AsyncGenerator<string> {
  yield csvLine(names);
  for (let after: string | undefined | null; after !== null;) {
    const { rows, next } = await read(after);
    yield rows.map((cells) => csvLine(cells)).join("");
    after = next;
  }
}

/** Made as fast as the client reads. A fault is logged here and cuts the connection: the status is already sent. */
export function streamed(texts: AsyncGenerator<string>, log: Log): Readable {
  return Readable.from(watched(texts, log), { objectMode: false });
}

export async function* watched<T extends { readonly length: number }>(
  parts: AsyncGenerator<T>,
  log: Log,
): AsyncGenerator<T> {
  try {
    for await (const part of parts) {
      if (part.length > 0) yield part;
      // A fast reader would otherwise keep everybody else waiting until its body is whole.
      await nextSlice();
    }
  } catch (error) {
    log.error("http.body_failed", error);
    throw error;
  }
}
