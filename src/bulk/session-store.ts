import type { Tally } from "../core/batch/tally.ts";
import type { ChunkOutcome, NewBatch, StoredRow } from "./batches.ts";
import type { Charge, ChargeTerms, Unpaid } from "../accounts/admission/charges.ts";
import type { OwnerKey } from "../base/owner.ts";

/** What is known of a session that is there. */
export interface Session {
  readonly session: string;
  readonly owner: OwnerKey;
  readonly clientAddress: string;
  readonly origin: "sync" | "queued";
  readonly state: "pending" | "processing" | "completed" | "failed";
  readonly total: number;
  readonly unique: number;
  /** Entries that were answered; never falls. Up to 1 s late for those whose chunk is not done. */
  readonly processed: number;
  /** Of the processed ones. */
  readonly tally: Tally;
  readonly chunks: number;
  /** Of the chunks those whose results can be read. */
  readonly chunksDone: number;
  /** From when on it is gone; absent while it is not over. */
  readonly expiresAtMs?: number;
  /** Of an uploaded table. */
  readonly table?: { readonly header: readonly string[]; readonly pages: number };
}

/** Rows of an uploaded table, and the entries of all of them in their order. */
export interface TablePage {
  readonly rows: readonly StoredRow[];
  readonly entries: readonly number[];
}

/**
 * What a batch left to be read. Parts of a session that is gone, or not that far, are undefined.
 * Rules: `test/contracts/bulk/session-store.ts`.
 */
export interface SessionStore {
  /**
   * Stores a batch that was checked at once, and charges it, all or nothing. It completes now.
   * `outcomes` has one for each chunk.
   */
  save(
    batch: NewBatch,
    outcomes: readonly ChunkOutcome[],
    terms: ChargeTerms,
  ): Promise<Charge | Unpaid>;
  /** What `save` would say of these terms now; nothing is charged, and nothing kept for later. */
  payable(terms: ChargeTerms): Promise<Unpaid | undefined>;
  /** Never a session that is expired or removed, pruned or not. */
  find(session: string, nowMs: number): Promise<Session | undefined>;
  /** For `unpackChunk`. */
  content(session: string, chunk: number): Promise<string | undefined>;
  /** JSON texts in the order of the chunk's entries. */
  results(session: string, chunk: number): Promise<readonly string[] | undefined>;
  /** First spellings of the chunk's valid entries. */
  valid(session: string, chunk: number): Promise<readonly string[] | undefined>;
  page(session: string, page: number): Promise<TablePage | undefined>;
  /** Deletes what has expired; returns how many sessions. */
  prune(nowMs: number): Promise<number>;
}

/** How long a session's results, or a failed job, are kept. */
export const SESSION_LIFE_MS = 15 * 60_000;
