// The thread that splits large bulk texts, so that the main thread stays free for single checks. Texts take turns,
// a slice each.
import { parentPort } from "node:worker_threads";
import { splitText, type SplitBatch } from "../core/batch/batch-chunk.ts";
import type { SplitReport, ThreadOrder } from "./threads/splitter.ts";

const port = parentPort;
if (port === null) throw new Error("split-thread is a thread, not a program");

interface Open {
  readonly id: number;
  readonly slices: Generator<undefined, SplitBatch>;
}

const open: Open[] = [];

function turn(): void {
  const next = open.shift();
  if (next === undefined) return;
  const step = next.slices.next();
  if (step.done === true) {
    port?.postMessage({ id: next.id, batch: step.value } satisfies SplitReport);
  } else {
    open.push(next);
  }
  if (open.length > 0) setImmediate(turn);
}

port.on("message", ({ id, text, layout, uniqueMax }: ThreadOrder) => {
  open.push({ id, slices: splitText(text, layout, uniqueMax) });
  if (open.length === 1) setImmediate(turn);
});
