import type { OwnerKey } from "../admission/owner.ts";

/** Names of an owner that may be under way before DNS has answered any: a part of the window. */
const UNPROVEN_PART = 1 / 8;
const UNPROVEN_LEAST = 4;

/** A name without an answer holds its place fifty times as long as one with an answer. */
const SILENT_COST = 4;

interface OwnerPace {
  chunks: number;
  underWay: number;
  /** Names that DNS answered, less four times those that it did not. */
  proven: number;
  readonly waiting: (() => void)[];
}

/** The names of one chunk on their way into DNS. */
export interface Pace {
  /** Undefined when the next name may begin, else a promise of that. Each is followed by one `leave`. */
  enter(): Promise<void> | undefined;
  leave(answered: boolean): void;
  /** The chunk is over. */
  end(): void;
}

/**
 * How many names of each owner may be under way at once: a part of the window, and as many more as DNS has answered.
 * So a list behind a silent name server cannot fill the window that the lists of others need.
 */
export class OwnerPaces {
  readonly #window: () => number;
  readonly #owners = new Map<OwnerKey, OwnerPace>();

  /** `window`: names that DNS takes at once. */
  constructor(window: () => number) {
    this.#window = window;
  }

  begin(owner: OwnerKey): Pace {
    const pace = this.#owners.get(owner) ?? { chunks: 0, underWay: 0, proven: 0, waiting: [] };
    this.#owners.set(owner, pace);
    pace.chunks += 1;
    return {
      enter: () => this.#enter(pace),
      leave: (answered) => this.#leave(pace, answered),
      end: () => {
        pace.chunks -= 1;
        if (pace.chunks === 0) this.#owners.delete(owner);
      },
    };
  }

  #most({ proven }: OwnerPace): number {
    const window = this.#window();
    const part = Math.min(UNPROVEN_PART, 1 / (this.#owners.size + 1));
    return Math.max(UNPROVEN_LEAST, Math.floor(window * part)) + proven;
  }

  #enter(pace: OwnerPace): Promise<void> | undefined {
    if (pace.underWay < this.#most(pace)) {
      pace.underWay += 1;
      return undefined;
    }
    return new Promise((resolve) => pace.waiting.push(resolve));
  }

  #leave(pace: OwnerPace, answered: boolean): void {
    const change = answered ? 1 : -SILENT_COST;
    pace.proven = Math.min(Math.max(0, pace.proven + change), this.#window());
    pace.underWay -= 1;
    while (pace.waiting.length > 0 && pace.underWay < this.#most(pace)) {
      pace.underWay += 1;
      pace.waiting.shift()?.();
    }
  }
}
