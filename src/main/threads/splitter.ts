import { Worker } from "node:worker_threads";
import { type SplitBatch, splitText } from "../../core/batch/batch-chunk.ts";
import type { BatchLayout } from "../../core/batch/batch.ts";
import { countSpellings } from "../../core/batch/count-spellings.ts";
import type { SplitOrder, Splitter, TooMany } from "../../ports/bulk/splitter.ts";
import type { Share } from "../../ports/sharing/share.ts";

export interface ThreadOrder {
  readonly id: number;
  readonly text: string;
  readonly layout: BatchLayout;
  /** Splitting may stop beyond this many unique entries. */
  readonly uniqueMax: number;
}

export interface SplitReport {
  readonly id: number;
  readonly batch: SplitBatch;
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
    async split(order) {
      if (order.text.length > INLINE_MAX_UNITS) {
        return await share.run(order.owner, () => splitLarge(order, splitting));
      }
      return await inSlices(splitText(order.text, order.layout));
    },
    close: () => splitting.close(),
  };
}

async function splitLarge(
  { text, layout, entriesMax }: SplitOrder,
  splitting: SplitThread,
): Promise<SplitBatch | TooMany> {
  const uniqueMax = entriesMax ?? Infinity;
  const count = await inSlices(countSpellings(text, layout));
  if (count > spellingsMax(uniqueMax)) return { kind: "too_many", count };
  const batch = await splitting.split({ text, layout, uniqueMax });
  return batch.unique > uniqueMax && batch.chunks.length === 0
    ? { kind: "too_many", count }
    : batch;
}

/** Others have a turn at each yield. */
async function inSlices<T>(slices: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

interface Waiting {
  readonly resolve: (batch: SplitBatch) => void;
  readonly reject: (fault: Error) => void;
}

class SplitThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  split(order: Omit<ThreadOrder, "id">): Promise<SplitBatch> {
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
