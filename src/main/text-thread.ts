// The thread that decodes large bodies and splits large texts, so that the main thread stays free for single checks.
// Texts take turns, a slice each.
import { parentPort } from "node:worker_threads";
import { splitText } from "../core/batch/batch-chunk.ts";
import { readFile } from "../http/api/read-file.ts";
import { decodeBody } from "../http/decode.ts";
import { inSlices } from "../base/slices.ts";
import { Refusal } from "../base/refusals.ts";
import { lowerPriority } from "./threads/lower-priority.ts";
import type { Numbered, TaskName, Tasks, ThreadReport } from "./threads/texts.ts";

const port = parentPort;

if (port === null) throw new Error("text-thread is a thread, not a program");
// Single checks and lists go before large texts.
lowerPriority(5);

type Work<Name extends TaskName> = (order: Tasks[Name]["order"]) => Promise<Tasks[Name]["result"]>;

const WORK: { readonly [Name in TaskName]: Work<Name> } = {
  split: ({ text, uniqueMax }) => inSlices(splitText(text, uniqueMax)),
  file: readFile,
  decode: decodeBody,
};

function given(report: ThreadReport): ArrayBuffer[] {
  if (!("result" in report) || report.name !== "file") return [];
  const pages = report.result.entries.table?.pages ?? [];
  return pages.flatMap(({ cells, entries }) => [cells.buffer, entries.buffer] as ArrayBuffer[]);
}

async function report({ id, name, order }: Numbered): Promise<ThreadReport> {
  const work = WORK[name] as (of: typeof order) => Promise<unknown>;
  try {
    return { id, name, result: await work(order) } as ThreadReport;
  } catch (error) {
    if (!(error instanceof Refusal)) return { id, fault: error };
    const { code, status, message, detail, retryAfterSeconds } = error;
    return { id, refusal: { code, status, message, detail, retryAfterSeconds } };
  }
}

port.on("message", (numbered: Numbered) => {
  void report(numbered).then((its) => port.postMessage(its, given(its)));
});
