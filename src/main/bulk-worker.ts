// The thread that works off bulk jobs. It shares the lists in memory with the main thread and nothing else, so that
// it holds up no single check.
import { parentPort, workerData } from "node:worker_threads";
import { systemMachine as machine } from "./process.ts";
import {
  type BulkThreadOrder,
  type BulkThreadReport,
  type BulkThreadSettings,
  sendingLog,
} from "./threads/bulk-thread.ts";
import { openBulkWork } from "./threads/bulk-work.ts";

const port = parentPort;
if (port === null) throw new Error("bulk-worker is a thread, not a program");
const report = (message: BulkThreadReport): void => port.postMessage(message);
const log = sendingLog(report);
const completed = (): void => report({ kind: "completed" });
const work = await openBulkWork(workerData as BulkThreadSettings, { machine, log, completed });
const FIGURES_EVERY_MS = 1_000;
const tell = (): void => {
  report({ kind: "figures", figures: work.figures() });
  cancelTelling = machine.clock.after(FIGURES_EVERY_MS, tell);
};
let cancelTelling = machine.clock.after(FIGURES_EVERY_MS, tell);

port.on("message", (order: BulkThreadOrder) => {
  if (order.kind === "wake") work.wake();
  else if (order.kind === "datasets") work.use(order.datasets);
  else {
    cancelTelling();
    work
      .close()
      .catch((fault: unknown) => log.error("bulk.stop_failed", fault))
      .finally(() => port.close());
  }
});
