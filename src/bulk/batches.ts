import type { PackedChunk } from "../core/batch/batch-chunk.ts";
import type { Tally } from "../core/batch/tally.ts";
import type { Owner } from "../base/owner.ts";

/** A batch as it is stored, whichever way it is checked. */
export interface NewBatch {
  /** 32 lower-case hexadecimal digits. */
  readonly session: string;
  readonly owner: Owner;
  /** The exact address it came from. */
  readonly clientAddress: string;
  /** Entries before de-duplication. */
  readonly total: number;
  readonly unique: number;
  /** At least one. */
  readonly chunks: readonly PackedChunk[];
  readonly table?: StoredTable;
  /** The answer to keep for a repetition of the request. */
  readonly keep?: KeptAnswer;
  readonly nowMs: number;
}

/** Some rows of an uploaded table, in memory of their own that a thread can give to another. */
export interface TableRows {
  /** JSON of `StoredRow[]` in UTF-8. */
  readonly cells: Uint8Array;
  /** The entries of all rows, in their order. */
  readonly entries: Int32Array;
}

/** The cells of a row with one entry, or a row of which there is more to say. */
export type StoredRow =
  | readonly string[]
  | {
      readonly cells: readonly string[];
      /** How many entries it has. */
      readonly count: number;
      /** What was read, where the cell says it in other words. */
      readonly readAs?: string;
      /** Why nothing of it is checked. */
      readonly reason?: string;
    };

/** An uploaded table as it is stored. */
export interface StoredTable {
  readonly header: readonly string[];
  /** About 64 KiB each, which keeps readers small. */
  readonly pages: readonly TableRows[];
}

/** Stored with the batch under a key that `RetryKeys.begin` opened. */
export interface KeptAnswer {
  readonly key: string;
  readonly token: string;
  readonly answer: string;
}

/** What became of one chunk's entries. */
export interface ChunkOutcome {
  /** One JSON text for each entry, in their order; no line breaks in it. */
  readonly results: readonly string[];
  /** First spellings of the valid entries; no line breaks in them. */
  readonly valid: readonly string[];
  readonly tally: Tally;
}

/** A finished batch, to be announced once. */
export interface CompletedBatch {
  readonly session: string;
  readonly owner: Owner;
  readonly total: number;
  readonly unique: number;
  readonly tally: Tally;
}
