import { Worker } from "node:worker_threads";
import { type SplitBatch, splitText } from "../../core/batch/batch-chunk.ts";
import type { BatchLayout } from "../../core/batch/batch.ts";
import { inSlices } from "../../http/request/slices.ts";
import type { Splitter, TooMany } from "../../ports/bulk/splitter.ts";
import type { Share } from "../../ports/sharing/share.ts";

export interface ThreadOrder {
  readonly id: number;
  readonly text: string;
  readonly layout: BatchLayout;
  /** Unique entries that it may hold. */
  readonly uniqueMax: number;
  /** A list of more spellings is not parsed. */
  readonly spellingsMax: number;
}

export interface SplitReport {
  readonly id: number;
  readonly batch: SplitBatch | TooMany;
}

export interface ThreadSplitter {
  readonly split: Splitter;
  readonly close: () => Promise<void>;
}

/** Texts up to this length are split in slices where they are, without waiting: about 3,000 entries. */
const INLINE_MAX_UNITS = 65_536;

/**
 * A list with more spellings than this is refused by their count, before any is parsed: twice the limit, because no
 * list that people keep spells all of its entries twice.
 */
const spellingsMax = (entriesMax: number): number => 2 * entriesMax + 1_000;

/** Splits large texts in a thread that lives as long as there are any, each owner in turn. */
export function threadSplitter(share: Share): ThreadSplitter {
  const splitting = new SplitThread();
  return {
    async split({ text, layout, owner, entriesMax }) {
      if (text.length <= INLINE_MAX_UNITS) return await inSlices(splitText(text, layout));
      const uniqueMax = entriesMax ?? Infinity;
      const order = { text, layout, uniqueMax, spellingsMax: spellingsMax(uniqueMax) };
      return await share.run(owner, () => splitting.split(order));
    },
    close: () => splitting.close(),
  };
}

interface Waiting {
  readonly resolve: (batch: SplitReport["batch"]) => void;
  readonly reject: (fault: Error) => void;
}

class SplitThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  split(order: Omit<ThreadOrder, "id">): Promise<SplitReport["batch"]> {
    const worker = (this.#worker ??= this.#launch());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, ...order } satisfies ThreadOrder);
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
