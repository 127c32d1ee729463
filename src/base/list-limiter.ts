import { CHUNK_ENTRIES } from "../core/batch/batch-chunk.ts";
import type { OwnerKey } from "./owner.ts";

/** Names of an owner that may be under way before DNS has answered any: a part of the window. */
const UNPROVEN_PART = 1 / 8;
const UNPROVEN_LEAST = 4;

/** The part of the window that all such names together may hold; beyond it each owner has the least. */
const ALL_UNPROVEN_PART = 1 / 2;

/** A silent name holds its place fifty times as long; those of a list's first second end together. */
const SILENT_COST = 4;

interface OwnerState {
  chunks: number;
  /** Names of its chunks that wait for their start. */
  unbegun: number;
  underWay: number;
  /** Names that DNS answered, less four times those that it did not. */
  proven: number;
  begun: number;
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly order: number;
  readonly start: () => void;
}

export interface ChunkLimiter {
  /** Undefined when the next name may begin, else a promise of that. Each is followed by one `leave`. */
  enter(): Promise<void> | undefined;
  leave(answered: boolean): void;
  /** The chunk is over; what it has not begun is not begun any more. */
  end(): void;
}

/** A part of the window, and as many more as DNS has answered: a list of silent names cannot fill it. */
export class ListLimiter {
  readonly #window: () => number;
  readonly #begun: () => void;
  readonly #owners = new Map<OwnerKey, OwnerState>();
  /** Names under way beyond what DNS answered for their owners. */
  #unproven = 0;
  #ready = 0;

  constructor(window: () => number, begun: () => void = () => undefined) {
    this.#window = window;
    this.#begun = begun;
  }

  /** Names that wait for others' and not for answers of their own owner; of each owner a chunk at most. */
  get ready(): number {
    return this.#ready;
  }

  begin(owner: OwnerKey, names: number): ChunkLimiter {
    const pace = this.#owners.get(owner) ?? {
      chunks: 0,
      unbegun: 0,
      underWay: 0,
      proven: 0,
      begun: 0,
      waiting: [],
    };
    this.#owners.set(owner, pace);
    pace.chunks += 1;
    pace.begun += 1;
    this.#change(pace, () => void (pace.unbegun += names));
    const order = pace.begun;
    let left = names;
    const start = (): void => {
      left -= 1;
      this.#change(pace, () => {
        pace.unbegun -= 1;
        pace.underWay += 1;
      });
    };
    return {
      enter: () => this.#enter(pace, { order, start }),
      leave: (answered) => this.#leave(pace, answered),
      end: () => {
        this.#change(pace, () => void (pace.unbegun -= left));
        pace.chunks -= 1;
        if (pace.chunks === 0) this.#owners.delete(owner);
      },
    };
  }

  owners(): readonly OwnerKey[] {
    return [...this.#owners.keys()];
  }

  /** One more chunk would only wait. Beside other owners a chunk's worth is enough, so that theirs come between. */
  hasEnough(owner: OwnerKey): boolean {
    const pace = this.#owners.get(owner);
    if (pace === undefined) return false;
    const most = this.#most(pace);
    return pace.unbegun >= (this.#owners.size > 1 ? Math.min(most, CHUNK_ENTRIES) : most);
  }

  #most({ proven }: OwnerState): number {
    const window = this.#window();
    if (this.#unproven >= window * ALL_UNPROVEN_PART) {
      return UNPROVEN_LEAST + Math.min(proven, window);
    }
    return mostUnderWay(proven, { window, owners: this.#owners.size });
  }

  #change(pace: OwnerState, change: () => void): void {
    const { ready } = this;
    this.#unproven -= unprovenOf(pace);
    this.#ready -= readyOf(pace);
    change();
    this.#unproven += unprovenOf(pace);
    this.#ready += readyOf(pace);
    if (this.#ready < ready) this.#begun();
  }

  #enter(pace: OwnerState, { order, start }: Waiting): Promise<void> | undefined {
    if (pace.underWay < this.#most(pace)) {
      start();
      return undefined;
    }
    return new Promise((resolve) => {
      const begin = (): void => {
        start();
        resolve();
      };
      this.#change(pace, () => void pace.waiting.push({ order, start: begin }));
    });
  }

  #leave(pace: OwnerState, answered: boolean): void {
    const proven = provenAfter(answered, pace.proven, this.#window());
    this.#change(pace, () => {
      pace.underWay -= 1;
      pace.proven = proven;
    });
    while (pace.waiting.length > 0 && pace.underWay < this.#most(pace)) {
      let oldest: Waiting | undefined;
      this.#change(pace, () => (oldest = oldestOf(pace.waiting)));
      oldest?.start();
    }
  }
}

export function mostUnderWay(
  proven: number,
  { window, owners }: { readonly window: number; readonly owners: number },
): number {
  const part = Math.min(UNPROVEN_PART, 1 / (owners + 1));
  return Math.max(UNPROVEN_LEAST, Math.floor(window * part)) + Math.min(proven, window);
}

/** What an owner has proven once another of its names has ended. */
export const provenAfter = (answered: boolean, proven: number, window: number): number =>
  Math.min(Math.max(0, proven + (answered ? 1 : -SILENT_COST)), window * SILENT_COST);

const readyOf = ({ waiting, unbegun }: OwnerState): number =>
  waiting.length > 0 ? 0 : Math.min(unbegun, CHUNK_ENTRIES);

const unprovenOf = ({ underWay, proven }: OwnerState): number => Math.max(0, underWay - proven);

/** An owner's chunks end one after the other: in turns, a few silent names of each would hold up all of them. */
function oldestOf(waiting: Waiting[]): Waiting | undefined {
  let oldest = 0;
  for (const [at, { order }] of waiting.entries()) {
    if (order < (waiting[oldest]?.order ?? Infinity)) oldest = at;
  }
  return waiting.splice(oldest, 1)[0];
}
