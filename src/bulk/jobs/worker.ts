import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import type { Log } from "../../base/log.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { Shares } from "../../base/shares.ts";
import {
  CHUNK_ENTRIES,
  chunkEntries,
  EMPTY_TALLY,
  type EntryClass,
  unpackChunk,
} from "../../core/batch/batch-chunk.ts";
import type { FullResult } from "../../core/validate/result.ts";
import type { ChunkQueue, ClaimedChunk, CompleteOutcome } from "./chunk-queue.ts";
import { LEASE_MS, Leases } from "./leases.ts";
import { type EntryOutcome, entryOutcome, type EntryCheck, chunkOutcome } from "./entry-check.ts";

const LOOK_EVERY_MS = 1_000;

/** A result that cannot be stored, on a full disk say, is offered again every second for half a minute. */
const STORE_TRIES_MAX = 30;
const STORE_PAUSE_MS = 1_000;

/** Chunks under way. Each keeps some results back while its slowest names keep it. */
const CHUNKS_MAX = 400;

/** Entries of running chunks that are not checked yet: room for 200 owners whose names are silent. */
const OPEN_ENTRIES_MAX = 100_000 - CHUNK_ENTRIES;

/** Stop claiming chunks while four chunks' worth of entries wait for those of others. */
const READY_MAX = 4 * CHUNK_ENTRIES;

/** Of an owner without others so many wait: what DNS takes while a chunk is claimed. */
const ALONE_ENTRIES = 2 * CHUNK_ENTRIES;

/** Chunks checked and not stored, before no more are claimed: answers from the cache come faster than disks write. */
const UNSTORED_MAX = 8;

const DNS_WAIT_MAX_MS = 120_000;
const DNS_PAUSE_MS = 2_000;

interface WorkerDeps {
  readonly check: EntryCheck;
  readonly room: () => Promise<void> | undefined;
  readonly hasRoom: (owner: OwnerKey) => boolean;
  readonly dnsAnswers: () => Promise<boolean>;
  /** Nobody is asked: a chunk without an answer waits for none. */
  readonly isDnsOff?: boolean;
  readonly silentMs: () => number;
  readonly shares: Pick<Shares, "of">;
  readonly chunks: ChunkQueue;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly isWatched?: boolean;
  readonly completed: () => void;
}

export interface WorkerFigures {
  readonly taken: number;
  readonly stored: number;
  readonly late: number;
  readonly postponed: number;
  readonly failed: number;
  readonly entriesPerSecond: number;
  readonly inUse: number;
}

class RunningChunk {
  readonly chunk: ClaimedChunk;
  readonly entries: readonly string[];
  readonly results: EntryOutcome[] = [];
  readonly faults: unknown[] = [];
  readonly tally: Record<EntryClass, number> = { ...EMPTY_TALLY };
  open: number;
  isLost = false;
  /** Resolves when no first check is open: one promise, because a list has thousands under way. */
  readonly firstChecks: Promise<void>;
  endFirstChecks = (): void => undefined;
  readonly silentMs: number;

  constructor(chunk: ClaimedChunk, silentMs: number) {
    this.chunk = chunk;
    this.silentMs = silentMs;
    this.entries = chunkEntries(unpackChunk(chunk.content));
    this.open = this.entries.length;
    this.firstChecks = new Promise((resolve) => (this.endFirstChecks = resolve));
  }

  get isConclusive(): boolean {
    return this.results.some(({ dns }) => dns === "conclusive");
  }

  note(at: number, result: FullResult): void {
    const checked = entryOutcome(result);
    this.results[at] = checked;
    if (!isOpen(checked)) this.tally[checked.kind] += 1;
  }
}

interface QueuedEntry {
  readonly work: RunningChunk;
  readonly at: number;
}

/** Why a chunk is checked again later: not even well-known names are answered, which one owner's chunk never decides, or its own were not. */
type Doubt = "dns is down" | "dns was silent";

const isOpen = ({ dns }: EntryOutcome): boolean => dns === "inconclusive";

/** Claims, checks and stores chunks of running jobs until it is stopped. */
export class BulkWorker {
  readonly #deps: WorkerDeps;
  readonly #chunksOf = new Map<OwnerKey, number>();
  /** Entries that wait for DNS to take them: owners in turn, those of small lists first. */
  readonly #queue: FairQueue<QueuedEntry>;
  #isBeginning = false;
  readonly #leases: Leases;
  #isStopped = true;
  #ends: readonly End[] = [];
  #claiming: Promise<void> | undefined;
  /** Cleared by a claim that finds nothing; a wake-up sets it, also during a claim. */
  #mayBeMore = false;
  /** The owners that had enough when a claim found only their chunks; empty otherwise. */
  #passedOver: ReadonlySet<OwnerKey> = new Set();
  readonly #counts = { taken: 0, stored: 0, late: 0, postponed: 0, failed: 0 };
  #underWay = 0;
  /** Running chunks that may have killed other workers: no other work starts beside them. */
  #crashing = 0;
  #openEntries = 0;
  #unstored = 0;
  /** While DNS is silent one chunk at a time finds out whether it is back. */
  #isProbing = false;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#leases = new Leases(deps);
    const perOwner = (owner: OwnerKey): number => (deps.hasRoom(owner) ? Infinity : 0);
    this.#queue = new FairQueue({ total: () => Infinity, perOwner });
  }

  start(): void {
    const { clock, log } = this.#deps;
    this.#isStopped = false;
    const claimFailed = (fault: unknown): void => log.error("bulk.claim_failed", fault);
    this.#ends = [
      this.#leases.start(),
      every({ ms: LOOK_EVERY_MS, firstMs: 0, clock, failed: claimFailed }, () =>
        Promise.resolve(this.wake()),
      ),
    ];
  }

  /** Looks for chunks, and for room; it does so, too, after each chunk that ended, and every second. */
  wake(): void {
    this.#mayBeMore = true;
    void this.#beginEntries();
    this.#claim();
  }

  figures(): WorkerFigures {
    return {
      ...this.#counts,
      entriesPerSecond: this.#leases.entriesPerSecond,
      inUse: this.#underWay,
    };
  }

  /** Claims no more and hands back what is under way; resolves when others can have it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#ends.map((end) => end()), this.#claiming]);
    const { chunks, name, clock } = this.#deps;
    await chunks.handBack(name, clock.nowMs());
  }

  /** Begins to claim, where there may be chunks and is place: called when one of the two may have come. */
  #claim(): void {
    if (this.#claiming !== undefined || !this.#mayBeMore || !this.#hasPlace()) return;
    this.#claiming = this.#claimAll().finally(() => (this.#claiming = undefined));
  }

  async #claimAll(): Promise<void> {
    while (this.#mayBeMore && this.#hasPlace()) {
      this.#mayBeMore = false;
      const chunk = await this.#claimOne().catch((fault: unknown) => {
        this.#deps.log.error("bulk.claim_failed", fault);
      });
      if (chunk === undefined) continue;
      this.#mayBeMore = true;
      void this.#run(chunk);
    }
  }

  #hasPlace(): boolean {
    if (this.#isStopped || this.#crashing > 0) return false;
    if (this.#unstored >= UNSTORED_MAX || this.#openEntries >= OPEN_ENTRIES_MAX) return false;
    if (this.#underWay >= (this.#isProbing ? 1 : CHUNKS_MAX)) return false;
    return this.#ready() < READY_MAX;
  }

  /** Entries that wait for others' and not for answers of their own owner; of each owner a chunk at most. */
  #ready(): number {
    let ready = 0;
    for (const owner of this.#chunksOf.keys()) {
      if (!this.#deps.hasRoom(owner)) continue;
      ready += Math.min(this.#queue.lengthOf(owner), CHUNK_ENTRIES);
    }
    return ready;
  }

  /** Whether one more chunk of this owner would only wait. Beside others a chunk's worth is enough, so that theirs come between. */
  #hasEnough(owner: OwnerKey): boolean {
    const isAlone = this.#chunksOf.size === 1;
    const enough = isAlone ? ALONE_ENTRIES : this.#deps.hasRoom(owner) ? CHUNK_ENTRIES : 1;
    return this.#queue.lengthOf(owner) >= enough;
  }

  async #claimOne(): Promise<ClaimedChunk | undefined> {
    const { chunks, name, clock } = this.#deps;
    const token = await this.#leases.forClaim();
    const except = [...this.#chunksOf.keys()].filter((owner) => this.#hasEnough(owner));
    const lease = { worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS };
    const chunk = await chunks.claim(lease, token, except).catch((fault: unknown) => {
      this.#leases.end(token); // it may have succeeded all the same, and then its lease ends
      throw fault;
    });
    this.#passedOver = new Set(chunk === undefined ? except : []);
    if (chunk !== undefined) {
      this.#counts.taken += 1;
      return chunk;
    }
    this.#leases.end(token);
    if (!except.every((owner) => this.#hasEnough(owner))) this.#mayBeMore = true;
    return undefined;
  }

  async #run(chunk: ClaimedChunk): Promise<void> {
    if (this.#underWay === 0) this.#leases.begin();
    this.#count(chunk, 1);
    await this.#checkAndStore(chunk).catch((fault: unknown) => this.#putBack(chunk, fault));
    this.#count(chunk, -1);
    this.#leases.end(chunk.token);
    if (this.#underWay === 0 && !this.#isStopped) await this.#leases.tell();
    this.wake();
  }

  #count({ owner, mayCrash }: ClaimedChunk, chunks: 1 | -1): void {
    this.#underWay += chunks;
    if (mayCrash) this.#crashing += chunks;
    const ofOwner = (this.#chunksOf.get(owner) ?? 0) + chunks;
    if (ofOwner > 0) this.#chunksOf.set(owner, ofOwner);
    else this.#chunksOf.delete(owner);
  }

  async #checkAndStore(chunk: ClaimedChunk): Promise<void> {
    const { isDnsOff = false, silentMs, shares, completed } = this.#deps;
    const work = new RunningChunk(chunk, silentMs());
    this.#leases.set(chunk.token, work);
    await this.#check(work);
    if (work.isLost) return void (this.#counts.late += 1);
    if (work.faults.length > 0) throw work.faults[0];
    const doubt = isDnsOff ? undefined : await this.#checkAgain(work);
    if (this.#isStopped) return;
    this.#isProbing = doubt === "dns is down";
    if (doubt !== undefined && (await this.#postpone(chunk))) return;
    this.#isProbing = false;
    this.#unstored += 1;
    const storing = shares.of("storing").run(chunk.owner, () => this.#store(work));
    const stored = await storing.finally(() => (this.#unstored -= 1));
    if (stored === "late") return void (this.#counts.late += 1);
    this.#counts.stored += 1;
    this.#leases.noteStored(work.entries.length);
    if (stored === "finished") completed();
  }

  /** Puts the entries into the queue; resolves when each has an answer. */
  async #check(work: RunningChunk): Promise<void> {
    const { owner, turns } = work.chunk;
    this.#openEntries += work.open;
    for (const at of work.entries.keys()) this.#queue.push(owner, { work, at }, { rank: turns });
    void this.#beginEntries();
    await work.firstChecks;
  }

  async #beginEntries(): Promise<void> {
    if (this.#isBeginning || this.#queue.length === 0) return;
    this.#isBeginning = true;
    for (;;) {
      const room = this.#deps.room();
      if (room !== undefined) {
        await room;
        this.#claim();
      }
      const next = this.#queue.next();
      if (next === undefined) break;
      this.#begin(next.item);
    }
    this.#isBeginning = false;
    this.#claim();
  }

  #begin({ work, at }: QueuedEntry): void {
    const { owner, spamTrap } = work.chunk;
    const ended = (): void => {
      this.#queue.release(owner);
      work.open -= 1;
      this.#openEntries -= 1;
      if (work.open === 0) work.endFirstChecks();
      if (this.#passedOver.has(owner) && !this.#hasEnough(owner)) this.#mayBeMore = true;
    };
    // The chunk is another worker's by now: what is left of it is not asked for.
    if (work.isLost) return ended();
    // By callbacks: with `await` each of thousands of entries costs twice as much.
    this.#deps.check(work.entries[at] ?? "", { spamTrap, by: owner }).then(
      (result) => {
        work.note(at, result);
        ended();
        void this.#beginEntries();
      },
      (fault: unknown) => {
        work.faults.push(fault);
        ended();
        void this.#beginEntries();
      },
    );
  }

  /** Asks once more for names without an answer: of 100,000 live ones, some lose every try to packet loss. */
  async #checkAgain(work: RunningChunk): Promise<Doubt | undefined> {
    const { chunk, entries, results, isConclusive } = work;
    if (!results.some(isOpen)) return undefined;
    if (isConclusive) {
      const share = this.#deps.shares.of("again");
      const options = { spamTrap: chunk.spamTrap, again: true } as const;
      const retries = entries.map(async (entry, at) => {
        const first = results[at];
        if (first === undefined || !isOpen(first)) return;
        work.note(at, await share.run(chunk.owner, () => this.#deps.check(entry, options)));
      });
      await Promise.all(retries);
      if (!results.some(isOpen)) return undefined;
    }
    if (!(await this.#deps.dnsAnswers())) return "dns is down";
    return isConclusive && this.#deps.silentMs() <= work.silentMs ? undefined : "dns was silent";
  }

  /** Whether the chunk waits for DNS; a job that did so for two minutes takes what there is. */
  async #postpone(chunk: ClaimedChunk): Promise<boolean> {
    const { chunks, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const times = { nowMs, retryAtMs: nowMs + DNS_PAUSE_MS, dnsWaitMaxMs: DNS_WAIT_MAX_MS };
    if ((await chunks.postpone(chunk, times)) === "accept") return false;
    this.#counts.postponed += 1;
    return true;
  }

  async #store(work: RunningChunk): Promise<CompleteOutcome> {
    const { chunks, clock, log } = this.#deps;
    const outcome = chunkOutcome(work.entries, work.results);
    const conclusive = work.isConclusive;
    for (let tries = 1; ; tries += 1) {
      try {
        return await chunks.complete(work.chunk, outcome, { nowMs: clock.nowMs(), conclusive });
      } catch (fault) {
        if (tries === STORE_TRIES_MAX || this.#isStopped) throw fault;
        log.error("bulk.store_failed", fault, { tries });
      }
      await new Promise<void>((resolve) => void clock.after(STORE_PAUSE_MS, resolve));
    }
  }

  async #putBack(chunk: ClaimedChunk, fault: unknown): Promise<void> {
    const { chunks, clock, log } = this.#deps;
    this.#counts.failed += 1;
    log.error("bulk.chunk_failed", fault, { session: chunk.session, chunk: chunk.number });
    await chunks
      .release(chunk, clock.nowMs() + STORE_PAUSE_MS)
      .catch((again: unknown) => log.error("bulk.release_failed", again));
  }
}
