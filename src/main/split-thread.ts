// The thread that splits large bulk texts, so that the main thread stays free for single checks.
import { parentPort } from "node:worker_threads";
import { splitText } from "../core/batch/batch-chunk.ts";
import { finish } from "../core/batch/batch.ts";
import type { SplitOrder, SplitReport } from "./threads/splitter.ts";

const port = parentPort;
if (port === null) throw new Error("split-thread is a thread, not a program");
port.on("message", ({ id, text, layout }: SplitOrder) => {
  port.postMessage({ id, batch: finish(splitText(text, layout)) } satisfies SplitReport);
});
