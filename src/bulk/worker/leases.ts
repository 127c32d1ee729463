import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import {
  EMPTY_TALLY,
  entriesIn,
  type EntryClass,
  type Tally,
} from "../../core/batch/batch-chunk.ts";
import type { ChunkQueue, ClaimedChunk, Lease } from "../chunk-queue.ts";
import type { QueueAhead } from "../jobs.ts";

const ASSUMED_ENTRIES_PER_SECOND = 1_000;

/** At least 1. Owners take turns, so of each running job no more stands before it than it has itself. */
export function estimatedSeconds(
  entries: number,
  { openEntries, entriesPerSecond }: QueueAhead,
): number {
  const ahead = openEntries.reduce((sum, open) => sum + Math.min(open, entries), 0);
  const speed = Math.max(1, entriesPerSecond ?? ASSUMED_ENTRIES_PER_SECOND);
  return Math.max(1, Math.ceil((ahead + entries) / speed));
}

const NEWEST_SHARE = 0.3;

/** A worker that is silent for this time has lost its chunks. */
const LEASE_MS = 15_000;
const RENEW_EVERY_MS = LEASE_MS / 3;

/** A worker among others says that it lives, also while it has nothing to do. */
const IDLE_MS = 30_000;

interface LeasesDeps {
  readonly chunks: Pick<ChunkQueue, "renew">;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Others look whether this worker is there. */
  readonly isWatched?: boolean;
}

/** A chunk under way. */
export interface LeasedChunk {
  /** Entries that a worker before this one answered. */
  readonly before: number;
  readonly tally: Record<EntryClass, number>;
  isLost: boolean;
}

/** The leases of one worker's chunks, renewed while any is under way; with them it tells how far they are. */
export class Leases {
  readonly #deps: LeasesDeps;
  /** By token the chunks that are claimed or, with undefined, being claimed. */
  readonly #held = new Map<string, LeasedChunk | undefined>();
  #claims = 0;
  #underWay = 0;
  /** Entries stored since then, for the speed while there is work. */
  #entries = 0;
  #entriesSinceMs = 0;
  #entriesPerSecond = 0;
  #renewedMs = -Infinity;
  #isStopped = true;
  #end: End = () => Promise.resolve();

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { clock, log } = this.#deps;
    const failed = (fault: unknown): void => log.error("bulk.renew_failed", fault);
    this.#isStopped = false;
    this.#end = every({ ms: RENEW_EVERY_MS, clock, failed }, async () => {
      if (this.#underWay > 0) await this.#renew();
      else if (this.#deps.isWatched === true) await this.#sayIdle();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
  }

  get underWay(): number {
    return this.#underWay;
  }

  get entriesPerSecond(): number {
    return this.#entriesPerSecond;
  }

  /** After a freeze the leases are over, and a claim would take the chunks that are under way here. */
  async beforeClaim(): Promise<void> {
    const sinceMs = this.#deps.clock.monotonicMs() - this.#renewedMs;
    if (this.#underWay > 0 && sinceMs >= LEASE_MS) await this.#renew();
  }

  /** Of the next chunk; renewed from now on, until `end` or `release`. */
  claim(): { readonly token: string; readonly lease: Lease } {
    const { name, clock } = this.#deps;
    this.#claims += 1;
    const token = `${name}-${String(this.#claims)}`;
    this.#held.set(token, undefined);
    return { token, lease: { worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS } };
  }

  end(token: string): void {
    this.#held.delete(token);
  }

  hold({ token, answered }: ClaimedChunk): LeasedChunk {
    const held = { before: answered, tally: { ...EMPTY_TALLY }, isLost: false };
    this.#held.set(token, held);
    if (this.#underWay === 0) {
      this.#entries = 0;
      this.#entriesSinceMs = this.#renewedMs = this.#deps.clock.monotonicMs();
    }
    this.#underWay += 1;
    return held;
  }

  async release(token: string): Promise<void> {
    this.#held.delete(token);
    this.#underWay -= 1;
    if (this.#underWay > 0 || this.#isStopped) return;
    await this.#renew().catch((fault: unknown) => this.#deps.log.error("bulk.renew_failed", fault));
  }

  stored(entries: number): void {
    this.#entries += entries;
  }

  async #sayIdle(): Promise<void> {
    const { chunks, name, clock } = this.#deps;
    if (clock.monotonicMs() - this.#renewedMs < IDLE_MS) return;
    await chunks.renew({ worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS, tokens: [] }, 0);
    this.#renewedMs = clock.monotonicMs();
  }

  async #renew(): Promise<void> {
    const { chunks, name, clock } = this.#deps;
    this.#measure();
    const known = [...this.#held];
    const answered = new Map<string, Tally>();
    for (const [token, held] of known) {
      if (held !== undefined && entriesIn(held.tally) > held.before)
        answered.set(token, held.tally);
    }
    const tokens = known.map(([token]) => token);
    const lease = { worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS, tokens, answered };
    const renewed = await chunks.renew(lease, this.#entriesPerSecond);
    this.#renewedMs = clock.monotonicMs();
    for (const [token, held] of known) {
      if (held !== undefined && !renewed.has(token)) held.isLost = true;
    }
  }

  /** Smoothed; the first measurement counts whole. */
  #measure(): void {
    const elapsedMs = this.#deps.clock.monotonicMs() - this.#entriesSinceMs;
    if (elapsedMs <= 0 || this.#entries === 0) return;
    const sample = (this.#entries * 1_000) / elapsedMs;
    const before = this.#entriesPerSecond || sample;
    this.#entriesPerSecond = before + (sample - before) * NEWEST_SHARE;
    this.#entries = 0;
    this.#entriesSinceMs += elapsedMs;
  }
}
