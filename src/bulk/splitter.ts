import type { SplitBatch } from "../core/batch/batch-chunk.ts";
import type { BatchLayout } from "../core/batch/batch.ts";
import type { OwnerKey } from "../base/owner.ts";

export interface SplitOrder {
  readonly text: string;
  readonly layout: BatchLayout;
  /** Whose list it is: owners take turns. */
  readonly owner: OwnerKey;
  /** Unique entries that the list may hold; null: any number. */
  readonly entriesMax: number | null;
}

/** More unique entries than allowed: how many were counted, of which some may be spellings of one entry. */
export interface TooMany {
  readonly kind: "too_many";
  readonly count: number;
}

/**
 * Splits a bulk text as `splitText` of core does, without keeping a thread that has other duties busy:
 * large texts are split elsewhere. Rejects with `NoRoom`.
 */
export type Splitter = (order: SplitOrder) => Promise<SplitBatch | TooMany>;
