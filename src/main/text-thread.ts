// A thread that reads what callers send: it decodes large bodies, splits large texts, reads files and keeps read lists, so that
// the thread that answers requests does none of it.
import { readlinkSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Refusal } from "../base/refusals.ts";
import type { FileRead } from "../http/api/read-file.ts";
import type { ThreadData, ThreadOrder, ThreadReport } from "./threads/reading-thread.ts";
import { lowerPriority, readingTasks, type TaskSource } from "./threads/tasks.ts";

const port = parentPort;

if (port === null) throw new Error("text-thread is a thread, not a program");
// Single checks and lists go before large texts.
if (!(workerData as ThreadData).isUrgent) lowerPriority(5);

const report = (its: ThreadReport, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(its, transfer);

if (process.platform === "linux") report({ place: readlinkSync("/proc/thread-self") });

const tasks = readingTasks();

let waiting: { readonly resolve: (answer: never) => void; readonly reject: (why: unknown) => void };

/** The task under way; what an earlier one began, a cleaned file say, asks for it. */
let underWay = 0;

const ask =
  (wanted: keyof TaskSource) =>
  (...of: readonly unknown[]): Promise<never> =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      report({ id: underWay, wanted, of });
    });

const source: TaskSource = {
  part: ask("part"),
  results: ask("results"),
  fixes: ask("fixes"),
  slice: ask("slice"),
};

function handedOver(result: unknown): ArrayBuffer[] {
  if (typeof result !== "object" || result === null || !("digest" in result)) return [];
  const { table } = (result as FileRead).entries;
  const pages = table?.pages ?? [];
  return pages.flatMap(({ cells, entries }) => [cells.buffer, entries.buffer] as ArrayBuffer[]);
}

type Task = (order: unknown, source: TaskSource) => Promise<unknown>;

async function answer(id: number, task: Task, order: unknown): Promise<void> {
  underWay = id;
  try {
    const result = await task(order, source);
    report({ id, result }, handedOver(result));
  } catch (error) {
    if (!(error instanceof Refusal)) return report({ id, fault: error });
    const { code, status, message, detail, retryAfterSeconds, notice } = error;
    report({ id, refusal: { code, status, message, detail, retryAfterSeconds, notice } });
  }
}

port.on("message", (order: ThreadOrder) => {
  if ("name" in order) void answer(order.id, tasks[order.name] as Task, order.order);
  else if ("answer" in order) waiting.resolve(order.answer as never);
  else waiting.reject(new Error(String(order.failed)));
});
