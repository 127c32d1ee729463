import type { Clock } from "../../base/clock.ts";
import { every, type End } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";

/** How often a worker looks for work without a notice. */
export const LOOK_EVERY_MS = 1_000;

export interface ClaimingDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the worker could take one more chunk. */
  readonly hasPlace: () => boolean;
  /** Claims a chunk; false when there was none. */
  readonly claimOne: () => Promise<boolean>;
}

/**
 * When a worker claims: after a wake-up, after each chunk that ended, and every second, one claim after the other until
 * one finds nothing.
 */
export class Claiming {
  readonly #deps: ClaimingDeps;
  #isStopped = true;
  #claiming: Promise<void> | undefined;
  /** Until a claim finds nothing. */
  #mayBeMore = false;
  #endLooks: End = () => Promise.resolve();

  constructor(deps: ClaimingDeps) {
    this.#deps = deps;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  start(): void {
    this.#isStopped = false;
    const { clock, log } = this.#deps;
    const failed = (fault: unknown): void => log.error("bulk.claim_failed", fault);
    const look = (): Promise<void> => Promise.resolve(this.wake());
    this.#endLooks = every({ ms: LOOK_EVERY_MS, firstMs: 0, clock, failed }, look);
  }

  /** There may be work. */
  wake(): void {
    this.#mayBeMore = true;
    this.freed();
  }

  /** There may be place again. */
  freed(): void {
    if (this.#claiming !== undefined || !this.#mayBeMore || !this.#hasPlace()) return;
    this.#claiming = this.#claimWhileThereIs().finally(() => (this.#claiming = undefined));
  }

  /** Resolves when no claim is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#endLooks(), this.#claiming]);
  }

  async #claimWhileThereIs(): Promise<void> {
    while (this.#mayBeMore && this.#hasPlace()) {
      this.#mayBeMore = false; // a wake-up during the claim counts
      if (await this.#claimOne()) this.#mayBeMore = true;
    }
  }

  async #claimOne(): Promise<boolean> {
    try {
      return await this.#deps.claimOne();
    } catch (fault) {
      this.#deps.log.error("bulk.claim_failed", fault);
      return false;
    }
  }

  #hasPlace(): boolean {
    return !this.#isStopped && this.#deps.hasPlace();
  }
}
