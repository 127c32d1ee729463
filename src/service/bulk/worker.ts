import type { ChunkQueue, ClaimedChunk, CompleteOutcome } from "../../ports/chunk-queue.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { Places } from "./places.ts";
import { type ChunkDeps, type JudgedChunk, processChunk } from "./process-chunk.ts";
import { Speedometer } from "./speed.ts";

/** A worker that is silent for so long has lost its chunks. */
export const LEASE_MS = 3_000;
const RENEW_EVERY_MS = LEASE_MS / 3;

/** How often an idle worker looks for work that no wake-up told it of. */
const LOOK_EVERY_MS = 2_000;

/** Chunks under way. Each holds some results back while its slowest names keep it. */
const CHUNKS_MAX = 400;

/** Entries of chunks under way that are not judged yet: enough to keep the resolver's window full. */
const OPEN_ENTRIES_MAX = 3_000;

/** Names of the second pass asked at once: one in fifty of 15,000 a second, for 2 s each, and some spare. */
const AGAIN_MAX = 1_000;

/** Chunks being compressed and written at once; each takes a quarter of a megabyte for that. */
const STORING_MAX = 4;

/** Chunks judged and not stored, before no more are claimed: answers from the cache come faster than disks write. */
const UNSTORED_MAX = 8;

/** How long a job waits for DNS, and how long its chunks pause between two tries. */
const DNS_PATIENCE_MS = 120_000;
const DNS_PAUSE_MS = 2_000;

/** A result that cannot be stored, on a full disk say, is offered again every second for half a minute. */
const STORE_TRIES_MAX = 30;
const STORE_PAUSE_MS = 1_000;

export interface WorkerDeps extends Omit<ChunkDeps, "again"> {
  readonly chunks: ChunkQueue;
  /** A name for this worker, new with each start. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** A job completed: whoever announces may look. */
  readonly completed: () => void;
}

/** Takes chunks of running jobs, judges them and stores their results, until it is stopped. */
export interface BulkWorker {
  start(): void;
  /** There may be work. */
  wake(): void;
  /** Claims no more and hands back what is under way; resolves when others can have it. */
  stop(): Promise<void>;
}

export function bulkWorker(deps: WorkerDeps): BulkWorker {
  return new ClaimingWorker(deps);
}

class ClaimingWorker implements BulkWorker {
  readonly #deps: WorkerDeps;
  readonly #speed: Speedometer;
  readonly #again = new Places(AGAIN_MAX);
  readonly #storing = new Places(STORING_MAX);
  #underWay = 0;
  #openEntries = 0;
  #unstored = 0;
  #isClaiming = false;
  /** Until a claim finds nothing, and again from the next wake-up, look or end of a chunk. */
  #mayBeMore = false;
  #isStopped = true;
  /** While DNS is silent one chunk at a time finds out whether it is back. */
  #isProbing = false;
  #callOffLook = (): void => undefined;
  #callOffRenewal = (): void => undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#speed = new Speedometer(deps.clock);
  }

  start(): void {
    this.#isStopped = false;
    this.#look();
  }

  wake(): void {
    this.#mayBeMore = true;
    void this.#claimAll();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOffLook();
    this.#callOffRenewal();
    const { chunks, name, clock } = this.#deps;
    await chunks.handBack(name, clock.nowMs());
  }

  #look(): void {
    this.wake();
    this.#callOffLook = this.#deps.clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  /** Claims as long as there is work and place for it; one claim at a time. */
  async #claimAll(): Promise<void> {
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    try {
      while (this.#mayBeMore && this.#hasPlace()) {
        this.#mayBeMore = false; // a wake-up during the claim counts
        if (await this.#claimOne()) this.#mayBeMore = true;
      }
    } catch (fault) {
      this.#deps.log.error("bulk.claim_failed", fault);
    } finally {
      this.#isClaiming = false;
    }
  }

  #hasPlace(): boolean {
    if (this.#isStopped || this.#unstored >= UNSTORED_MAX) return false;
    if (this.#openEntries >= OPEN_ENTRIES_MAX) return false;
    return this.#underWay < (this.#isProbing ? 1 : CHUNKS_MAX);
  }

  async #claimOne(): Promise<boolean> {
    const { chunks, name, clock } = this.#deps;
    const lease = { worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS };
    const chunk = await chunks.claim(lease);
    if (chunk === undefined) return false;
    if (this.#underWay === 0) this.#begin();
    this.#underWay += 1;
    void this.#run(chunk);
    return true;
  }

  #begin(): void {
    this.#speed.start();
    this.#callOffRenewal = this.#deps.clock.after(RENEW_EVERY_MS, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { chunks, name, clock, log } = this.#deps;
    this.#callOffRenewal();
    if (this.#isStopped) return;
    if (this.#underWay > 0) {
      this.#callOffRenewal = clock.after(RENEW_EVERY_MS, () => void this.#renew());
    }
    try {
      const lease = { worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS };
      await chunks.renew(lease, this.#speed.read() ?? 0);
    } catch (fault) {
      log.error("bulk.renew_failed", fault);
    }
  }

  async #run(chunk: ClaimedChunk): Promise<void> {
    const { chunks, clock, log } = this.#deps;
    try {
      await this.#finish(chunk, await this.#judge(chunk));
    } catch (fault) {
      log.error("bulk.chunk_failed", fault, { session: chunk.session, chunk: chunk.number });
      await chunks
        .release(chunk, clock.nowMs() + STORE_PAUSE_MS)
        .catch((again: unknown) => log.error("bulk.release_failed", again));
    }
    this.#underWay -= 1;
    if (this.#underWay === 0) await this.#renew();
    this.wake();
  }

  async #judge(chunk: ClaimedChunk): Promise<JudgedChunk> {
    let open = 0;
    const counted = (change: number): void => {
      open += change;
      this.#openEntries += change;
      if (change < 0) void this.#claimAll();
    };
    try {
      const judge: WorkerDeps["judge"] = async (entry, options) => {
        if (options.again === true) return this.#deps.judge(entry, options);
        counted(1);
        const result = await this.#deps.judge(entry, options);
        counted(-1);
        return result;
      };
      return await processChunk(chunk, { ...this.#deps, judge, again: this.#again });
    } finally {
      counted(-open);
    }
  }

  async #finish(chunk: ClaimedChunk, judged: JudgedChunk): Promise<void> {
    if (this.#isStopped) return;
    if (judged.dnsDown && (await this.#postponed(chunk))) return;
    this.#isProbing = false;
    this.#unstored += 1;
    const storing = this.#storing.hold(() => this.#store(chunk, judged));
    const stored = await storing.finally(() => (this.#unstored -= 1));
    if (stored === "late") return;
    this.#speed.count(judged.outcome.results.length);
    if (stored === "finished") this.#deps.completed();
  }

  async #postponed(chunk: ClaimedChunk): Promise<boolean> {
    const { chunks, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const retryAtMs = nowMs + DNS_PAUSE_MS;
    const answer = await chunks.postpone(chunk, {
      nowMs,
      retryAtMs,
      patienceMs: DNS_PATIENCE_MS,
    });
    if (answer === "accept") return false;
    this.#isProbing = true;
    return true;
  }

  async #store(
    chunk: ClaimedChunk,
    { outcome, conclusive }: JudgedChunk,
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
}
