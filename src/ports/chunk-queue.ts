import type { ChunkOutcome } from "./batches.ts";

/** How long a chunk belongs to whom. */
export interface Lease {
  /** A worker's own name for itself, new with each start. */
  readonly worker: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** A chunk that one worker has for the time of its lease. */
export interface ClaimedChunk {
  readonly session: string;
  /** From 0. */
  readonly number: number;
  /** Of this claim alone: who comes with an older one is too late. */
  readonly token: string;
  /** For `unpackChunk`. */
  readonly content: string;
  readonly spamTrap: boolean;
}

/**
 * `stored`: counted, the job goes on; `finished`: it was the job's last chunk and the job is completed;
 * `late`: the chunk or the job is another's by now, and nothing was stored.
 */
export type CompleteOutcome = "stored" | "finished" | "late";

/** A chunk that was claimed so often and never came to an end takes its job with it. */
export const CLAIMS_MAX = 10;

/** The chunks of running jobs, seen from a worker. Rules: `test/contracts/chunk-queue.ts`. */
export interface ChunkQueue {
  /**
   * A chunk that nobody has, of the owner who waited longest for a turn; undefined when there is none.
   * A chunk that outlived its lease is nobody's.
   */
  claim(lease: Lease): Promise<ClaimedChunk | undefined>;
  /** Prolongs all leases of this worker and notes its speed. */
  renew(lease: Lease, entriesPerSecond: number): Promise<void>;
  /** Stores a chunk's outcome and counts it, in one step. `conclusive`: DNS answered for some of it. */
  complete(
    chunk: ClaimedChunk,
    outcome: ChunkOutcome,
    at: { readonly nowMs: number; readonly conclusive: boolean },
  ): Promise<CompleteOutcome>;
  /**
   * The chunk was wholly inconclusive. `retry`: it is put back until `retryAtMs`. `accept`: its job has
   * waited `patienceMs` for DNS since its first such chunk, so store what there is. `late` as above.
   */
  postpone(
    chunk: ClaimedChunk,
    at: { readonly nowMs: number; readonly retryAtMs: number; readonly patienceMs: number },
  ): Promise<"retry" | "accept" | "late">;
  /** Puts a chunk back after a fault; how often it was claimed still counts against its job. */
  release(chunk: ClaimedChunk, retryAtMs: number): Promise<void>;
  /** Puts all chunks of this worker back at once, as if it had not claimed them. */
  handBack(worker: string, nowMs: number): Promise<void>;
}
