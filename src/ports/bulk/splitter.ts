import type { BatchLayout } from "../../core/batch/batch.ts";
import type { SplitBatch } from "../../core/batch/batch-chunk.ts";

/**
 * Splits a bulk text as `splitText` of core does, without keeping a thread that has other duties busy:
 * large texts are split elsewhere.
 */
export type Splitter = (text: string, layout: BatchLayout) => Promise<SplitBatch>;
