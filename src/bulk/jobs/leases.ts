import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import { entriesIn, type Tally } from "../../core/batch/batch-chunk.ts";
import type { ChunkQueue, ClaimedChunk } from "./chunk-queue.ts";

/** A worker that is silent for this time has lost its chunks. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = LEASE_MS / 3;

/** A worker among others says that it lives, also while it has nothing to do. */
const IDLE_MS = 30_000;

const NEWEST_SHARE = 0.3;

interface LeasesDeps {
  readonly chunks: Pick<ChunkQueue, "renew">;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
  readonly isWatched?: boolean;
}

interface Leased {
  readonly chunk: ClaimedChunk;
  readonly tally: Tally;
  isLost: boolean;
}

export class Leases {
  readonly #deps: LeasesDeps;
  readonly #leased = new Map<string, Leased | undefined>();
  #claims = 0;
  #renewedMs = -Infinity;
  #entriesPerSecond = 0;
  #storedEntries = 0;
  #measuredMs = 0;

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  get entriesPerSecond(): number {
    return this.#entriesPerSecond;
  }

  start(): End {
    const { clock } = this.#deps;
    return every({ ms: RENEW_EVERY_MS, clock, failed: this.#failed }, () => this.#keep());
  }

  /** The token of a claim that begins now. After a freeze the leases are over, and it would take the chunks that are under way here. */
  async forClaim(): Promise<string> {
    const { clock, name } = this.#deps;
    if (this.#hasChunks() && clock.monotonicMs() - this.#renewedMs >= LEASE_MS) await this.#renew();
    this.#claims += 1;
    const token = `${name}-${String(this.#claims)}`;
    this.#leased.set(token, undefined);
    return token;
  }

  set(token: string, leased: Leased): void {
    this.#leased.set(token, leased);
  }

  end(token: string): void {
    this.#leased.delete(token);
  }

  /** The first chunk after a rest: the speed is measured from now on. */
  begin(): void {
    this.#storedEntries = 0;
    this.#measuredMs = this.#renewedMs = this.#deps.clock.monotonicMs();
  }

  noteStored(entries: number): void {
    this.#storedEntries += entries;
  }

  async tell(): Promise<void> {
    await this.#renew().catch(this.#failed);
  }

  #hasChunks(): boolean {
    return [...this.#leased.values()].some((leased) => leased !== undefined);
  }

  async #keep(): Promise<void> {
    const { chunks, name, clock, isWatched } = this.#deps;
    if (this.#hasChunks()) return await this.#renew();
    if (isWatched !== true || clock.monotonicMs() - this.#renewedMs < IDLE_MS) return;
    await chunks.renew({ worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS, tokens: [] }, 0);
    this.#renewedMs = clock.monotonicMs();
  }

  async #renew(): Promise<void> {
    const { chunks, name, clock } = this.#deps;
    this.#measureSpeed();
    const all = [...this.#leased];
    const answered = new Map<string, Tally>();
    for (const [token, leased] of all) {
      if (leased === undefined || entriesIn(leased.tally) <= leased.chunk.answered) continue;
      answered.set(token, leased.tally);
    }
    const tokens = all.map(([token]) => token);
    const lease = { worker: name, nowMs: clock.nowMs(), leaseMs: LEASE_MS, tokens, answered };
    const renewed = await chunks.renew(lease, this.#entriesPerSecond);
    this.#renewedMs = clock.monotonicMs();
    for (const [token, leased] of all) {
      if (leased !== undefined && !renewed.has(token)) leased.isLost = true;
    }
  }

  #measureSpeed(): void {
    const elapsedMs = this.#deps.clock.monotonicMs() - this.#measuredMs;
    if (elapsedMs <= 0 || this.#storedEntries === 0) return;
    const sample = (this.#storedEntries * 1_000) / elapsedMs;
    const before = this.#entriesPerSecond || sample;
    this.#entriesPerSecond = before + (sample - before) * NEWEST_SHARE;
    this.#storedEntries = 0;
    this.#measuredMs += elapsedMs;
  }

  readonly #failed = (fault: unknown): void => this.#deps.log.error("bulk.renew_failed", fault);
}
