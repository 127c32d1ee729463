import { Worker } from "node:worker_threads";
import { Refusal } from "../../base/refusals.ts";
import type { Share } from "../../base/shares.ts";
import { inSlices } from "../../base/slices.ts";
import type { Splitter } from "../../bulk/bulk.ts";
import { type SplitBatch, splitText } from "../../core/batch/batch-chunk.ts";
import type { TooMany } from "../../core/batch/batch.ts";
import type { ReadFile } from "../../http/api/read-file.ts";
import type { Decode } from "../../http/decode.ts";

/** What the thread does, each with the function that does it here. */
export interface TextTasks {
  readonly split: (order: {
    readonly text: string;
    readonly uniqueMax: number;
  }) => Promise<SplitBatch | TooMany>;
  readonly file: ReadFile;
  readonly decode: Decode;
}

type Order<Name extends keyof TextTasks> = Parameters<TextTasks[Name]>[0];

export interface Numbered {
  readonly id: number;
  readonly name: keyof TextTasks;
  readonly order: unknown;
}

type Told = Pick<Refusal, "code" | "status" | "message" | "detail" | "retryAfterSeconds">;

export type ThreadReport = { readonly id: number } & (
  { readonly result: unknown } | { readonly refusal: Told } | { readonly fault: unknown }
);

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (fault: unknown) => void;
}

/** A large text leaves some 60 MB that an idle thread would keep; starting one takes 0.1 s. */
const IDLE_MAX_MS = 5_000;

class TextThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** Rejects with a `Refusal`, or when the thread ends. What is in `transfer` cannot be used afterwards. */
  run<Name extends keyof TextTasks>(
    name: Name,
    order: Order<Name>,
    transfer: readonly ArrayBufferLike[] = [],
  ): ReturnType<TextTasks[Name]> {
    const worker = (this.#worker ??= this.#launch());
    clearTimeout(this.#idle);
    const id = (this.#lastId += 1);
    const done = new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, name, order } satisfies Numbered, transfer as ArrayBuffer[]);
    });
    return done as ReturnType<TextTasks[Name]>;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #launch(): Worker {
    const worker = new Worker(new URL("../text-thread.js", import.meta.url));
    worker.unref(); // an idle thread keeps no process alive
    let fault = new Error("the text thread ended");
    worker.on("message", (report: ThreadReport) => {
      const waiting = this.#waiting.get(report.id);
      this.#waiting.delete(report.id);
      if (waiting !== undefined) settle(waiting, report);
      if (this.#waiting.size > 0) return;
      this.#idle = setTimeout(() => void this.close(), IDLE_MAX_MS).unref();
    });
    worker.on("error", (error) => (fault = new Error("the text thread", { cause: error })));
    worker.on("exit", () => {
      if (this.#worker !== worker) return; // it was let go, and nobody waits for it
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(fault);
      this.#waiting.clear();
    });
    return worker;
  }
}

function settle({ resolve, reject }: Waiting, report: ThreadReport): void {
  if ("result" in report) {
    resolve(report.result);
  } else if ("refusal" in report) {
    const { code, status, message, ...more } = report.refusal;
    reject(new Refusal(code, status, message, more));
  } else {
    reject(report.fault);
  }
}

export interface Texts {
  readonly split: Splitter;
  readonly decode: Decode;
  readonly readFile: ReadFile;
  readonly close: () => Promise<void>;
}

/** Texts up to this length are split in slices where they are, without waiting: about 3,000 entries. */
const INLINE_MAX_UNITS = 65_536;

/** In a thread that lives as long as there are any; lists are split in their owners' turns. */
export function threadTexts(splitting: Share): Texts {
  const thread = new TextThread();
  return {
    async split({ text, owner, entriesMax }) {
      const uniqueMax = entriesMax ?? Infinity;
      if (text.length <= INLINE_MAX_UNITS) return await inSlices(splitText(text, uniqueMax));
      const order = { text, uniqueMax };
      return await splitting.run(owner, () => thread.run("split", order));
    },
    decode: (order) => thread.run("decode", ...given(order)),
    readFile: (order) => thread.run("file", ...given(order)),
    close: () => thread.close(),
  };
}

/** The chunks are taken out of the order, and their memory is given to the thread. */
function given<Order extends { readonly chunks: Uint8Array[] }>(
  order: Order,
): [Order, ArrayBufferLike[]] {
  const chunks = order.chunks.splice(0);
  return [{ ...order, chunks }, chunks.map(({ buffer }) => buffer)];
}
