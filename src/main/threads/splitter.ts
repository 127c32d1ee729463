import { Worker } from "node:worker_threads";
import { type SplitBatch, splitText } from "../../core/batch/batch-chunk.ts";
import { type BatchLayout, finish } from "../../core/batch/batch.ts";
import type { Splitter } from "../../ports/bulk/splitter.ts";

export interface SplitOrder {
  readonly id: number;
  readonly text: string;
  readonly layout: BatchLayout;
}

export interface SplitReport {
  readonly id: number;
  readonly batch: SplitBatch;
}

export interface ThreadSplitter {
  readonly split: Splitter;
  readonly close: () => Promise<void>;
}

/** Texts up to this length are split where they are: about 2,000 entries, a few milliseconds. */
const INLINE_MAX_UNITS = 32_768;

/** Splits large texts in a thread that lives as long as there are any. */
export function threadSplitter(): ThreadSplitter {
  const splitting = new SplitThread();
  return {
    split(text, layout) {
      if (text.length > INLINE_MAX_UNITS) return splitting.split(text, layout);
      return Promise.resolve(finish(splitText(text, layout)));
    },
    close: () => splitting.close(),
  };
}

interface Waiting {
  readonly resolve: (batch: SplitBatch) => void;
  readonly reject: (fault: Error) => void;
}

class SplitThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  split(text: string, layout: BatchLayout): Promise<SplitBatch> {
    const worker = (this.#worker ??= this.#launch());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, text, layout } satisfies SplitOrder);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #launch(): Worker {
    const worker = new Worker(new URL("../split-thread.js", import.meta.url));
    worker.unref(); // an idle splitter keeps no process alive
    let fault = new Error("the splitting thread ended");
    worker.on("message", ({ id, batch }: SplitReport) => {
      this.#waiting.get(id)?.resolve(batch);
      this.#waiting.delete(id);
      // Its memory goes with it: a large text leaves some 60 MB that an idle thread would keep.
      if (this.#waiting.size === 0) void this.close();
    });
    worker.on("error", (error) => (fault = new Error("the splitting thread", { cause: error })));
    worker.on("exit", () => {
      if (this.#worker !== worker) return; // it was let go, and nobody waits for it
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(fault);
      this.#waiting.clear();
    });
    return worker;
  }
}
