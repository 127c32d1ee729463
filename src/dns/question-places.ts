import type { OwnerKey } from "../base/owner.ts";
import type { Clock } from "../base/clock.ts";
import { type Hold, NoRoom, type Share } from "../base/shares.ts";

/** A turn that comes later is of no use: its caller has given up, or soon will. */
const WAIT_MAX_MS = 2_000;

/**
 * Places for questions under way, which owners share. A name whose servers are silent keeps the resolver's place for 2.6
 * s: without shares one caller with a few hundred such names had all places, and everybody else's checks could not tell.
 */
export class QuestionPlaces {
  readonly #share: Pick<Share, "takeIfFree" | "wait">;
  readonly #clock: Clock;

  constructor(share: Pick<Share, "takeIfFree" | "wait">, clock: Clock) {
    this.#share = share;
    this.#clock = clock;
  }

  /** A place at once; undefined when this owner has to wait. */
  takeIfFree(by: OwnerKey): Hold | undefined {
    return this.#share.takeIfFree(by);
  }

  /** A place in turn; undefined when the owner has too many waiting, or its turn came too late. */
  async wait(by: OwnerKey): Promise<Hold | undefined> {
    const sinceMs = this.#clock.monotonicMs();
    try {
      const hold = await this.#share.wait(by);
      if (this.#clock.monotonicMs() - sinceMs <= WAIT_MAX_MS) return hold;
      hold.release();
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
    }
    return undefined;
  }
}
