import { getPriority, setPriority } from "node:os";
import { type SplitBatch, splitText } from "../../core/batch/batch-chunk.ts";
import type { TooMany } from "../../core/batch/batch.ts";
import { inSlices } from "../../base/slices.ts";
import { type ListOptions, type ListPage, readListFile } from "../../bulk/files/list-file.ts";
import { ListReader, type ReadsLists } from "../../bulk/lists/list-reader.ts";
import type { ListSource } from "../../bulk/lists/list-view.ts";
import { badUpload } from "../../base/refusals.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { readFile } from "../../http/api/read-file.ts";
import { decodeBody } from "../../http/decode.ts";

export interface Tasks extends ReadsLists {
  /** The next page of one file as JSON, which is handed over in half the time of its objects; undefined behind the last. */
  readonly page: (order: ListOptions, source: TaskSource) => Promise<string | undefined>;
  readonly split: (order: {
    readonly text: string;
    readonly uniqueMax: number;
  }) => Promise<SplitBatch | TooMany>;
  readonly file: typeof readFile;
  readonly decode: typeof decodeBody;
}

export interface TaskSource extends ListSource {
  readonly slice: () => Promise<Uint8Array | undefined>;
}

export type TaskName = keyof Tasks;

export function readingTasks(): Tasks {
  const lists = new ListReader();
  return {
    split: ({ text, uniqueMax }) => inSlices(splitText(text, uniqueMax)),
    file: readFile,
    page: pageReader(),
    decode: decodeBody,
    facts: (order, source) => lists.facts(order, source),
    rows: (order, source) => lists.rows(order, source),
    entries: (order, source) => lists.entries(order, source),
    fixed: (order, source) => lists.fixed(order, source),
    piece: (order, source) => lists.piece(order, source),
  };
}

function pageReader(): Tasks["page"] {
  let pages: AsyncGenerator<ListPage> | undefined;
  return async (options, source) => {
    pages ??= readListFile(slicesOf(source), options);
    try {
      const { done, value } = await pages.next();
      return done === true ? undefined : JSON.stringify(value);
    } catch (error) {
      throw error instanceof TableFault ? badUpload(error.message) : error;
    }
  };
}

async function* slicesOf({ slice }: TaskSource): AsyncGenerator<Uint8Array> {
  for (let next = await slice(); next !== undefined; next = await slice()) yield next;
}

const LOWEST = 19;

/** Counts from the priority of the process: to raise it again needs a privilege. */
export function lowerPriority(by: number): void {
  // Elsewhere the priority is that of the whole process.
  if (process.platform === "linux") setPriority(Math.min(LOWEST, getPriority() + by));
}
