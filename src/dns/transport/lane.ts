import type { OwnerKey } from "../../base/owner.ts";
import { Fifo } from "../../base/fair-queue.ts";
import { mostUnderWay, provenAfter } from "../../base/list-limiter.ts";

/** A queue this short is refilled: long enough that places never stay empty, short enough to be cheap. */
const SHORT_QUEUE = 256;

/** In one turn of the event loop, about 0.5 ms. Without it a thousand premium checks made turns of 40 ms. */
export const QUESTIONS_PER_ITERATION = 16;

export interface Permits {
  take(): boolean;
  giveBack(): void;
}

export function countedPermits(max: number): Permits {
  let held = 0;
  return {
    take() {
      if (held >= max) return false;
      held += 1;
      return true;
    },
    giveBack: () => void (held -= 1),
  };
}

export interface LaneTerms<T> {
  readonly permits: Permits;
  readonly start: (item: T) => void;
  readonly nowMs: () => number;
  readonly window?: () => number;
  readonly perTurn?: number;
}

class OwnerLane<T> {
  readonly urgent = new Fifo<T>();
  readonly waiting = new Fifo<T>();
  open = 0;
  held = 0;
  /** Milliseconds that it had places until `sinceMs`, summed over its places. It starts with what others had. */
  spentMs: number;
  sinceMs: number;
  /** Of its items that are over, answered ones count for it and others against it. */
  proven = 0;

  constructor(spentMs: number, sinceMs: number) {
    this.spentMs = spentMs;
    this.sinceMs = sinceMs;
  }

  spentAt(nowMs: number): number {
    return this.spentMs + this.held * (nowMs - this.sinceMs);
  }

  countPlaces(change: 1 | -1, nowMs: number): void {
    this.spentMs = this.spentAt(nowMs);
    this.sinceMs = nowMs;
    this.held += change;
  }

  get isWaiting(): boolean {
    return this.urgent.length + this.waiting.length > 0;
  }

  next(): T | undefined {
    return this.urgent.length > 0 ? this.urgent.shift() : this.waiting.shift();
  }
}

/**
 * The next place is the owner's that had places for the shortest time. With a `window` it has no more than its answers
 * have earned: else 1,000 silent names of one make all others wait for 2 s. Items without an owner go first.
 */
export class Lane<T> {
  readonly #lanes = new Map<OwnerKey, OwnerLane<T>>();
  readonly #ownerless = new OwnerLane<T>(0, 0);
  readonly #queued = new Set<OwnerLane<T>>();
  #waiting = 0;
  readonly #permits: Permits;
  readonly #start: (item: T) => void;
  readonly #nowMs: () => number;
  readonly #window: (() => number) | undefined;
  readonly #perTurn: number;
  #startedInTurn = 0;
  #spentMs = 0;
  #pumping = false;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor({ permits, start, nowMs, window, perTurn = Infinity }: LaneTerms<T>) {
    this.#permits = permits;
    this.#start = start;
    this.#nowMs = nowMs;
    this.#window = window;
    this.#perTurn = perTurn;
  }

  room(): Promise<void> | undefined {
    if (this.#waiting < SHORT_QUEUE) return undefined;
    if (this.#room === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((fulfil) => (resolve = fulfil));
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  /** `over` ends what this begins. */
  add(item: T, owner?: OwnerKey): void {
    const lane = this.#laneOf(owner);
    lane.open += 1;
    lane.waiting.push(item);
    this.#waiting += 1;
    this.#queued.add(lane);
    this.pump();
  }

  /** Before all of its owner that were added by `add`: an item of which `add` knows. */
  addUrgent(item: T, owner?: OwnerKey): void {
    const lane = this.#laneOf(owner);
    lane.urgent.push(item);
    this.#queued.add(lane);
    this.pump();
  }

  over(owner: OwnerKey | undefined, answered: boolean): void {
    if (owner === undefined) return;
    const lane = this.#laneOf(owner);
    lane.open -= 1;
    lane.proven = provenAfter(answered, lane.proven, this.#window?.() ?? 0);
    this.#forget(owner, lane);
  }

  release(owner?: OwnerKey): void {
    this.#permits.giveBack();
    if (owner !== undefined) {
      const lane = this.#laneOf(owner);
      lane.countPlaces(-1, this.#nowMs());
      this.#forget(owner, lane);
    }
    this.pump();
  }

  /** Starts what there is room for. A start that adds or releases is served by the loop already running. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#startedInTurn < this.#perTurn) {
      const lane = this.#queued.size > 0 ? this.#least() : undefined;
      if (lane === undefined || !this.#permits.take()) break;
      if (lane !== this.#ownerless) {
        const nowMs = this.#nowMs();
        this.#spentMs = Math.max(this.#spentMs, lane.spentAt(nowMs));
        lane.countPlaces(1, nowMs);
      }
      const item = this.#takeFrom(lane);
      if (item === undefined) continue;
      this.#countStart();
      this.#start(item);
    }
    this.#pumping = false;
    if (this.#room === undefined || this.#waiting >= SHORT_QUEUE / 2) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  #countStart(): void {
    if (this.#perTurn === Infinity) return;
    if (this.#startedInTurn === 0) {
      setImmediate(() => {
        this.#startedInTurn = 0;
        this.pump();
      });
    }
    this.#startedInTurn += 1;
  }

  #laneOf(owner: OwnerKey | undefined): OwnerLane<T> {
    if (owner === undefined) return this.#ownerless;
    const known = this.#lanes.get(owner);
    if (known !== undefined) return known;
    const made = new OwnerLane<T>(this.#spentMs, this.#nowMs());
    this.#lanes.set(owner, made);
    return made;
  }

  #forget(owner: OwnerKey, lane: OwnerLane<T>): void {
    if (lane.open <= 0 && lane.held <= 0 && !lane.isWaiting) this.#lanes.delete(owner);
  }

  #takeFrom(lane: OwnerLane<T>): T | undefined {
    if (lane.urgent.length === 0) this.#waiting -= 1;
    const item = lane.next();
    if (!lane.isWaiting) this.#queued.delete(lane);
    return item;
  }

  #least(): OwnerLane<T> | undefined {
    let least: OwnerLane<T> | undefined;
    let leastMs = Infinity;
    const nowMs = this.#nowMs();
    for (const lane of this.#queued) {
      if (lane === this.#ownerless) return lane;
      const spentMs = lane.spentAt(nowMs);
      if (spentMs >= leastMs || !this.#mayHaveMore(lane)) continue;
      least = lane;
      leastMs = spentMs;
    }
    return least;
  }

  #mayHaveMore({ held, proven }: OwnerLane<T>): boolean {
    if (this.#window === undefined) return true;
    return held < mostUnderWay(proven, { window: this.#window(), owners: this.#lanes.size });
  }
}
