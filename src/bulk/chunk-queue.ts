import type { Tally } from "../core/batch/tally.ts";
import type { OwnerKey } from "../base/owner.ts";
import type { ChunkOutcome } from "./batches.ts";

/** How long a chunk belongs to whom. */
export interface Lease {
  /** A worker's own name for itself, new with each start. */
  readonly worker: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** Tokens of the claims that a worker has, or is asking for. */
export interface Held {
  readonly tokens: readonly string[];
  /** By token: what of the chunk is answered so far, where that is more than any worker counted before. */
  readonly answered?: ReadonlyMap<string, Tally>;
}

/** A chunk that one worker has for the time of its lease. */
export interface ClaimedChunk {
  readonly session: string;
  /** From 0. */
  readonly number: number;
  /** Of this claim alone, as its worker named it: who comes with an older one is too late. */
  readonly token: string;
  readonly owner: OwnerKey;
  /** What the claim cost its owner: 1 for a chunk of a list of up to 2,000 entries, more for one of a longer list, at most 4. */
  readonly turns: number;
  /** How many. */
  readonly entries: number;
  /** For `unpackChunk`. */
  readonly content: string;
  readonly spamTrap: boolean;
  /** Entries that sessions show as processed already, because a worker before this one answered them. */
  readonly answered: number;
  /** Workers that had it fell silent again and again: it is to be checked where it can do no harm. */
  readonly isSuspect: boolean;
}

/**
 * `stored`: counted, the job continues; `finished`: it was the job's last chunk and the job is completed;
 * `late`: the chunk or the job is another's by now, and nothing was stored.
 */
export type CompleteOutcome = "stored" | "finished" | "late";

/**
 * Claims that ended in silence make a chunk a suspect, and count no further: workers are killed from outside, too,
 * and the chunk is not the cause.
 */
export const SILENT_CLAIMS_MAX = 5;

/**
 * A chunk that was claimed so often and never came to an end takes its job with it. What counts beyond
 * `SILENT_CLAIMS_MAX` is only what a living worker says with `release`.
 */
export const CLAIMS_MAX = 10;

/**
 * A job with an unclaimed suspect this long after its acceptance fails too, because a chunk that silently ends its
 * workers must not do so without limit.
 */
export const SUSPECT_LIFE_MS = 3_600_000;

/** The chunks of running jobs, seen from a worker. Rules: `test/contracts/bulk/jobs.ts`. */
export interface ChunkQueue {
  /**
   * A free chunk of the owner who waited longest for a turn; undefined if there is none.
   * A chunk whose lease has ended is free. `token` was never used before.
   * Owners in `except` have their share of this worker.
   */
  claim(
    lease: Lease,
    token: string,
    except?: readonly OwnerKey[],
  ): Promise<ClaimedChunk | undefined>;
  /**
   * Prolongs the leases of these claims, where they are still this worker's, and notes its speed and progress; returns the
   * tokens of those that are. A claim that the worker gave up, because the database could not be reached, is not among
   * them and ends.
   */
  renew(lease: Lease & Held, entriesPerSecond: number): Promise<ReadonlySet<string>>;
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
  /** Puts a chunk back after a fault, which counts against its job. */
  release(chunk: ClaimedChunk, retryAtMs: number): Promise<void>;
  /** Ends every lease, for a process that has the database alone: who had them is gone. */
  freeAll(nowMs: number): Promise<void>;
  /** Puts all chunks of this worker back at once, as if it had not claimed them. */
  handBack(worker: string, nowMs: number): Promise<void>;
}
