import type { OwnerKey } from "../admission/owner.ts";

/** Names of an owner that may be under way before DNS has answered any: a part of the window. */
const UNPROVEN_PART = 1 / 8;
const UNPROVEN_LEAST = 4;

/** The part of the window that all such names together may hold; beyond it each owner has the least. */
const ALL_UNPROVEN_PART = 1 / 2;

/** A name without an answer holds its place fifty times as long as one with an answer. */
const SILENT_COST = 4;

interface OwnerPace {
  chunks: number;
  underWay: number;
  /** Names that DNS answered, less four times those that it did not. */
  proven: number;
  /** Chunks that have begun in all. */
  begun: number;
  readonly waiting: Waiting[];
}

/** The next name of one chunk. */
interface Waiting {
  /** Of its chunk among the owner's, oldest first. */
  readonly order: number;
  readonly start: () => void;
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
  /** Names under way beyond what DNS answered for their owners. */
  #unproven = 0;

  /** `window`: names that DNS takes at once. */
  constructor(window: () => number) {
    this.#window = window;
  }

  begin(owner: OwnerKey): Pace {
    const pace = this.#owners.get(owner) ?? {
      chunks: 0,
      underWay: 0,
      proven: 0,
      begun: 0,
      waiting: [],
    };
    this.#owners.set(owner, pace);
    pace.chunks += 1;
    pace.begun += 1;
    const order = pace.begun;
    return {
      enter: () => this.#enter(pace, order),
      leave: (answered) => this.#leave(pace, answered),
      end: () => {
        pace.chunks -= 1;
        if (pace.chunks === 0) this.#owners.delete(owner);
      },
    };
  }

  #most({ proven }: OwnerPace): number {
    const window = this.#window();
    if (this.#unproven >= window * ALL_UNPROVEN_PART) return UNPROVEN_LEAST + proven;
    const part = Math.min(UNPROVEN_PART, 1 / (this.#owners.size + 1));
    return Math.max(UNPROVEN_LEAST, Math.floor(window * part)) + proven;
  }

  #change(pace: OwnerPace, underWay: number, proven = pace.proven): void {
    this.#unproven -= unprovenOf(pace);
    pace.underWay = underWay;
    pace.proven = proven;
    this.#unproven += unprovenOf(pace);
  }

  #enter(pace: OwnerPace, order: number): Promise<void> | undefined {
    if (pace.underWay < this.#most(pace)) {
      this.#change(pace, pace.underWay + 1);
      return undefined;
    }
    return new Promise((start) => pace.waiting.push({ order, start }));
  }

  #leave(pace: OwnerPace, answered: boolean): void {
    const change = answered ? 1 : -SILENT_COST;
    const proven = Math.min(Math.max(0, pace.proven + change), this.#window());
    this.#change(pace, pace.underWay - 1, proven);
    while (pace.waiting.length > 0 && pace.underWay < this.#most(pace)) {
      this.#change(pace, pace.underWay + 1);
      oldestOf(pace.waiting)?.start();
    }
  }
}

const unprovenOf = ({ underWay, proven }: OwnerPace): number => Math.max(0, underWay - proven);

/**
 * Takes out the name of the oldest chunk, so that an owner's chunks end one after the other: in turns, a few silent names
 * of each chunk would hold up all of them.
 */
function oldestOf(waiting: Waiting[]): Waiting | undefined {
  let oldest = 0;
  for (const [at, { order }] of waiting.entries()) {
    if (order < (waiting[oldest]?.order ?? Infinity)) oldest = at;
  }
  return waiting.splice(oldest, 1)[0];
}
