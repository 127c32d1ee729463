// The thread that splits large bulk texts, so that the main thread stays free for single checks. Texts take turns,
// a slice each.
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { splitText } from "../core/batch/batch-chunk.ts";
import { countSpellings } from "../core/batch/count-spellings.ts";
import type { SplitReport, ThreadOrder } from "./threads/splitter.ts";

const port = parentPort;

/** Single checks are answered before lists are split, where both want the same core. */
const LOWER_PRIORITY = 5;

// Elsewhere the priority is that of the whole process.
if (process.platform === "linux") setPriority(LOWER_PRIORITY);
if (port === null) throw new Error("split-thread is a thread, not a program");

interface Open {
  readonly id: number;
  readonly slices: Generator<undefined, SplitReport["batch"]>;
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

/** Far too many spellings are refused by their count, before any is parsed. */
function* countedAndSplit({ text, layout, uniqueMax, spellingsMax }: ThreadOrder): Open["slices"] {
  const count = yield* countSpellings(text, layout);
  if (count > spellingsMax) return { kind: "too_many", count };
  const batch = yield* splitText(text, layout, uniqueMax);
  return batch.unique > uniqueMax && batch.chunks.length === 0
    ? { kind: "too_many", count }
    : batch;
}

port.on("message", (order: ThreadOrder) => {
  open.push({ id: order.id, slices: countedAndSplit(order) });
  if (open.length === 1) setImmediate(turn);
});
