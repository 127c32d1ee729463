import { type SplitBatch, splitText } from "../../core/batch/batch-chunk.ts";
import type { TooMany } from "../../core/batch/batch.ts";
import { inSlices } from "../../base/slices.ts";
import { ListReader, type ReadsLists } from "../../bulk/list-reader.ts";
import { readFile } from "../../http/api/read-file.ts";
import { decodeBody } from "../../http/decode.ts";

/** What the reading threads do. */
export interface Tasks extends ReadsLists {
  readonly split: (order: {
    readonly text: string;
    readonly uniqueMax: number;
  }) => Promise<SplitBatch | TooMany>;
  readonly file: typeof readFile;
  readonly decode: typeof decodeBody;
}

export type TaskName = keyof Tasks;

export function readingTasks(): Tasks {
  const lists = new ListReader();
  return {
    split: ({ text, uniqueMax }) => inSlices(splitText(text, uniqueMax)),
    file: readFile,
    decode: decodeBody,
    facts: (order, source) => lists.facts(order, source),
    rows: (order, source) => lists.rows(order, source),
    entries: (order, source) => lists.entries(order, source),
    fixed: (order, source) => lists.fixed(order, source),
    piece: (order, source) => lists.piece(order, source),
  };
}
