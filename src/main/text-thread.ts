// The thread that decodes large bodies and splits large texts, so that the main thread stays free for single checks.
// Texts take turns, a slice each.
import { parentPort } from "node:worker_threads";
import { splitText } from "../core/batch/batch-chunk.ts";
import { type FileRead, readFile } from "../http/api/read-file.ts";
import { decodeBody } from "../http/decode.ts";
import { inSlices } from "../base/slices.ts";
import { Refusal } from "../base/refusals.ts";
import { lowerPriority } from "./threads/lower-priority.ts";
import type { Numbered, TextTasks, ThreadReport } from "./threads/texts.ts";

const port = parentPort;

if (port === null) throw new Error("text-thread is a thread, not a program");
// Single checks and lists go before large texts.
lowerPriority(5);

const TASKS: TextTasks = {
  split: ({ text, uniqueMax }) => inSlices(splitText(text, uniqueMax)),
  file: readFile,
  decode: decodeBody,
};

const resultOf = ({ name, order }: Numbered): Promise<object> =>
  (TASKS[name] as (order: unknown) => Promise<object>)(order);

/** The pages of a file are given away, not copied. */
function given(result: object): ArrayBuffer[] {
  const { table } = "entries" in result ? (result as FileRead).entries : {};
  const pages = table?.pages ?? [];
  return pages.flatMap(({ cells, entries }) => [cells.buffer, entries.buffer] as ArrayBuffer[]);
}

async function answer(numbered: Numbered): Promise<void> {
  const { id } = numbered;
  const report = (its: ThreadReport, transfer: ArrayBuffer[] = []): void =>
    port?.postMessage(its, transfer);
  try {
    const result = await resultOf(numbered);
    report({ id, result }, given(result));
  } catch (error) {
    if (!(error instanceof Refusal)) return report({ id, fault: error });
    const { code, status, message, detail, retryAfterSeconds } = error;
    report({ id, refusal: { code, status, message, detail, retryAfterSeconds } });
  }
}

port.on("message", (numbered: Numbered) => void answer(numbered));
