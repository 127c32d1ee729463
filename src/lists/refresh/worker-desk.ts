import { Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import type { SharedFile } from "../feed-files.ts";
import type { RefreshOutcome } from "../feed-refresh.ts";
import type { FetchedFile, ListAnswer, ListOrder, Taking } from "./feed-worker.ts";
import type { LoadedLists } from "../load/pack-lists.ts";

/** One worker thread for the length of a refresh. */
export interface WorkerDesk {
  assess(file: FetchedFile): Promise<RefreshOutcome>;
  pack(): Promise<LoadedLists>;
  /** A file of the folder as it is shared; undefined when there is none that is whole. */
  wrap(name: string, nowMs: number): Promise<SharedFile | undefined>;
  /** Puts what another machine shared into the folder, when it is whole and good. */
  take(file: SharedFile): Promise<Taking>;
  close(): Promise<void>;
}

/** A list takes up to 1 s; a thread that takes longer than this is stuck. */
const ANSWER_MS = 120_000;

interface Settle {
  readonly resolve: (answer: ListAnswer) => void;
  readonly reject: (fault: unknown) => void;
}

/** Starts the thread. An order rejects when the thread dies of a fault or does not answer in two minutes. */
export function openWorkerDesk(folder: string, clock: Pick<Clock, "after">): WorkerDesk {
  const worker = new Worker(new URL("./feed-worker.js", import.meta.url), {
    workerData: { folder },
  });
  // One order at a time, so the next answer or fault is that order's.
  let settle: Settle | undefined;
  const settleBy = (how: (waiting: Settle) => void): void => {
    const waiting = settle;
    settle = undefined;
    if (waiting !== undefined) how(waiting);
  };
  worker.on("message", (answer: ListAnswer) => settleBy(({ resolve }) => resolve(answer)));
  worker.on("error", (fault) => settleBy(({ reject }) => reject(fault)));
  worker.on("exit", () => settleBy(({ reject }) => reject(new Error("list worker: ended"))));
  const ask = async (order: ListOrder, moved: readonly ArrayBuffer[] = []): Promise<ListAnswer> => {
    const late = (): void => settleBy(({ reject }) => reject(new Error("list worker: no answer")));
    const cancel = clock.after(ANSWER_MS, late);
    try {
      return await new Promise<ListAnswer>((resolve, reject) => {
        settle = { resolve, reject };
        worker.postMessage(order, [...moved]);
      });
    } finally {
      cancel();
    }
  };
  /** The answer to an order, which is of the kind that goes with it. */
  const order = async <Kind extends ListAnswer["kind"]>(
    kind: Kind,
    ...asked: Parameters<typeof ask>
  ): Promise<Extract<ListAnswer, { kind: Kind }>> => {
    const answer = await ask(...asked);
    if (answer.kind !== kind) throw new Error(`list worker: ${answer.kind}`);
    return answer as Extract<ListAnswer, { kind: Kind }>;
  };
  return {
    assess: async (file) =>
      (await order("assessed", { kind: "assess", file }, transferable(file.body))).outcome,
    pack: async () => (await order("packed", { kind: "pack" })).loaded,
    wrap: async (name, nowMs) => (await order("wrapped", { kind: "wrap", name, nowMs })).file,
    take: async (file) =>
      (await order("taken", { kind: "take", file }, transferable(file.content))).taking,
    close: async () => void (await worker.terminate()),
  };
}

/** A body that shares its buffer with others, as small ones do, is copied. */
function transferable({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
