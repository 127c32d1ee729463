import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import { ListLimiter } from "../../base/list-limiter.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { RESOURCES } from "../../base/resources.ts";
import type { Share, Shares } from "../../base/shares.ts";
import { CHUNK_ENTRIES } from "../../core/batch/batch-chunk.ts";
import type { ChunkQueue, ClaimedChunk, CompleteOutcome } from "../chunk-queue.ts";
import { type LeasedChunk, Leases } from "./leases.ts";
import {
  type CheckedChunk,
  type ChunkDeps,
  ChunkLost,
  ResultQueue,
  processChunk,
} from "./process-chunk.ts";

const LOOK_EVERY_MS = 1_000;

/** A result that cannot be stored, on a full disk say, is offered again every second for half a minute. */
const STORE_TRIES_MAX = 30;
const STORE_PAUSE_MS = 1_000;

/** Chunks under way. Each holds some results back while its slowest names keep it. */
const CHUNKS_MAX = 400;

/**
 * Entries of running chunks that are not checked yet. An owner's part keeps the resolver's window full while one in
 * fifty of 20,000 a second is silent for 5 s; the total leaves room for 200 owners whose names are silent.
 */
const OPEN_ENTRIES_MAX = RESOURCES.chunks.total - CHUNK_ENTRIES;

/** Stop claiming chunks while four chunks' worth of entries are ready and wait for others: they go by turns, small lists first. */
const READY_MAX = 4 * CHUNK_ENTRIES;

/** Chunks checked and not stored, before no more are claimed: answers from the cache come faster than disks write. */
const UNSTORED_MAX = 8;

/** How long a job waits for DNS, and how long its chunks pause between two tries. */
const DNS_WAIT_MAX_MS = 120_000;
const DNS_PAUSE_MS = 2_000;

const NOBODY: ReadonlySet<OwnerKey> = new Set();

interface WorkerDeps extends Omit<
  ChunkDeps,
  "again" | "limiter" | "resultQueue" | "answered" | "ended" | "isLost"
> {
  readonly shares: Pick<Shares, "of">;
  readonly window: () => number;
  readonly chunks: Pick<
    ChunkQueue,
    "claim" | "renew" | "complete" | "postpone" | "release" | "handBack"
  >;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Other processes look whether this worker is there. */
  readonly isWatched?: boolean;
  readonly completed: () => void;
}

export interface WorkerFigures {
  readonly taken: number;
  readonly stored: number;
  /** Chunks that another worker had by the time they were checked. */
  readonly late: number;
  readonly postponed: number;
  readonly failed: number;
  readonly entriesPerSecond: number;
  readonly inUse: number;
  readonly openEntries: number;
}

/**
 * Takes chunks of running jobs, checks them and stores their results, until it is stopped. It claims after a wake-up,
 * after each chunk that ended, and every second, one claim after the other until one finds nothing.
 */
export class BulkWorker {
  readonly #deps: WorkerDeps;
  readonly #leases: Leases;
  readonly #open: Share;
  readonly #limiter: ListLimiter;
  readonly #results: ResultQueue;
  #isStopped = true;
  #claiming: Promise<void> | undefined;
  #mayBeMore = false;
  #endLooks: End = () => Promise.resolve();
  /** The owners that had enough when a claim found only their chunks; empty otherwise. */
  #heldBack: ReadonlySet<OwnerKey> = NOBODY;
  #taken = 0;
  readonly #counts = { stored: 0, late: 0, postponed: 0, failed: 0 };
  /** Running chunks that may have killed other workers: no other work starts beside them. */
  #crashing = 0;
  #openEntries = 0;
  #unstored = 0;
  /** While DNS is silent one chunk at a time finds out whether it is back. */
  #isProbing = false;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#open = deps.shares.of("chunks");
    const freed = (): void => this.#claim();
    this.#limiter = new ListLimiter(deps.window, freed);
    this.#results = new ResultQueue(freed);
    this.#leases = new Leases(deps);
  }

  start(): void {
    this.#isStopped = false;
    this.#leases.start();
    const { clock, log } = this.#deps;
    const failed = (fault: unknown): void => log.error("bulk.claim_failed", fault);
    const look = (): Promise<void> => Promise.resolve(this.wake());
    this.#endLooks = every({ ms: LOOK_EVERY_MS, firstMs: 0, clock, failed }, look);
  }

  wake(): void {
    this.#mayBeMore = true;
    this.#claim();
  }

  figures(): WorkerFigures {
    return {
      ...this.#counts,
      taken: this.#taken,
      entriesPerSecond: this.#leases.entriesPerSecond,
      inUse: this.#leases.underWay,
      openEntries: this.#openEntries,
    };
  }

  /** Claims no more and hands back what is under way; resolves when others can have it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#endLooks(), this.#claiming, this.#leases.stop()]);
    const { chunks, name, clock } = this.#deps;
    await chunks.handBack(name, clock.nowMs());
  }

  #claim(): void {
    if (this.#claiming !== undefined || !this.#mayBeMore || !this.#hasPlace()) return;
    this.#claiming = this.#claimWhileThereIs().finally(() => (this.#claiming = undefined));
  }

  async #claimWhileThereIs(): Promise<void> {
    const failed = (fault: unknown): false => {
      this.#deps.log.error("bulk.claim_failed", fault);
      return false;
    };
    while (this.#mayBeMore && this.#hasPlace()) {
      this.#mayBeMore = false; // a wake-up during the claim counts
      if (await this.#claimOne().catch(failed)) this.#mayBeMore = true;
    }
  }

  #hasPlace(): boolean {
    if (this.#isStopped || this.#crashing > 0) return false;
    if (this.#unstored >= UNSTORED_MAX || this.#openEntries >= OPEN_ENTRIES_MAX) return false;
    if (this.#limiter.ready + this.#results.waiting >= READY_MAX) return false;
    return this.#leases.underWay < (this.#isProbing ? 1 : CHUNKS_MAX);
  }

  async #claimOne(): Promise<boolean> {
    await this.#leases.beforeClaim();
    const { token, lease } = this.#leases.claim();
    const except = this.#limiter.owners().filter((owner) => this.#hasEnough(owner));
    const chunk = await this.#deps.chunks.claim(lease, token, except).catch((fault: unknown) => {
      this.#leases.end(token); // it may have succeeded all the same, and then its lease ends
      throw fault;
    });
    if (chunk === undefined) {
      this.#leases.end(token);
      this.#heldBack = new Set(except);
      // What changed during the claim was not waited for yet.
      return !except.every((owner) => this.#hasEnough(owner));
    }
    this.#heldBack = NOBODY;
    this.#taken += 1;
    this.#openEntries += chunk.entries;
    if (chunk.mayCrash) this.#crashing += 1;
    void this.#run(chunk, this.#leases.hold(chunk));
    return true;
  }

  async #run(chunk: ClaimedChunk, held: LeasedChunk): Promise<void> {
    try {
      await this.#finish(chunk, await this.#check(chunk, held));
    } catch (fault) {
      if (fault instanceof ChunkLost) this.#counts.late += 1;
      else await this.#putBack(chunk, fault);
    }
    if (chunk.mayCrash) this.#crashing -= 1;
    await this.#leases.release(chunk.token);
    this.wake();
  }

  async #putBack(chunk: ClaimedChunk, fault: unknown): Promise<void> {
    const { chunks, clock, log } = this.#deps;
    this.#counts.failed += 1;
    log.error("bulk.chunk_failed", fault, { session: chunk.session, chunk: chunk.number });
    await chunks
      .release(chunk, clock.nowMs() + STORE_PAUSE_MS)
      .catch((again: unknown) => log.error("bulk.release_failed", again));
  }

  /** Whether one more chunk of this owner would do no good, or take from others. */
  #hasEnough(owner: OwnerKey): boolean {
    return !this.#open.hasRoom(owner, CHUNK_ENTRIES) || this.#limiter.hasEnough(owner);
  }

  #freed(owner: OwnerKey): void {
    if (this.#heldBack.has(owner) && !this.#hasEnough(owner)) this.#mayBeMore = true;
    this.#claim();
  }

  async #check(chunk: ClaimedChunk, held: LeasedChunk): Promise<CheckedChunk> {
    let open = chunk.entries;
    const hold = this.#open.take(chunk.owner, open);
    const limiter = this.#limiter.begin(chunk.owner, open);
    // After a fault, entries that are still under way were counted already.
    const checked = (most: number): void => {
      const entries = Math.min(most, open);
      open -= entries;
      this.#openEntries -= entries;
      hold.shrink(entries);
      this.#freed(chunk.owner);
    };
    try {
      return await processChunk(chunk, {
        ...this.#deps,
        again: this.#deps.shares.of("again"),
        answered: (kind) => void (held.tally[kind] += 1),
        ended: () => checked(1),
        limiter,
        resultQueue: this.#results,
        isLost: () => held.isLost,
      });
    } finally {
      hold.release();
      limiter.end();
      checked(open);
    }
  }

  async #finish(chunk: ClaimedChunk, checked: CheckedChunk): Promise<void> {
    if (this.#isStopped) return;
    this.#isProbing = checked.dnsDown;
    if (checked.isPostponed && (await this.#postponed(chunk))) return;
    this.#isProbing = false;
    this.#unstored += 1;
    const share = this.#deps.shares.of("storing");
    const storing = share.run(chunk.owner, () => this.#store(chunk, checked));
    const stored = await storing.finally(() => (this.#unstored -= 1));
    if (stored === "late") {
      this.#counts.late += 1;
      return;
    }
    this.#counts.stored += 1;
    this.#leases.stored(checked.outcome.results.length);
    if (stored === "finished") this.#deps.completed();
  }

  /** Rejects with the last fault after 30 tries, and after the first one once it is stopped. */
  async #store(
    chunk: ClaimedChunk,
    { outcome, conclusive }: CheckedChunk,
  ): Promise<CompleteOutcome> {
    const { chunks, clock, log } = this.#deps;
    for (let tries = 1; ; tries += 1) {
      try {
        return await chunks.complete(chunk, outcome, { nowMs: clock.nowMs(), conclusive });
      } catch (fault) {
        if (tries === STORE_TRIES_MAX || this.#isStopped) throw fault;
        log.error("bulk.store_failed", fault, { tries });
      }
      await new Promise<void>((resolve) => void clock.after(STORE_PAUSE_MS, resolve));
    }
  }

  async #postponed(chunk: ClaimedChunk): Promise<boolean> {
    const { chunks, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const times = { nowMs, retryAtMs: nowMs + DNS_PAUSE_MS, dnsWaitMaxMs: DNS_WAIT_MAX_MS };
    const answer = await chunks.postpone(chunk, times);
    if (answer === "accept") return false;
    this.#counts.postponed += 1;
    return true;
  }
}
