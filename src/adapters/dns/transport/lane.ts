import { Fifo } from "./fifo.ts";

/** A queue this short is refilled: long enough that places never stay empty, short enough to be cheap. */
const SHORT_QUEUE = 256;

/** Hands out places. */
export interface Permits {
  /** False when there is none just now. */
  take(): boolean;
  giveBack(): void;
}

/** At most `max` at once. */
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

/** Starts items as there are places for them; the others wait in a queue. */
export class Lane<T> {
  readonly #urgent = new Fifo<T>();
  readonly #waiting = new Fifo<T>();
  readonly #permits: Permits;
  readonly #start: (item: T) => void;
  #pumping = false;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** `start` must not throw. */
  constructor(permits: Permits, start: (item: T) => void) {
    this.#permits = permits;
    this.#start = start;
  }

  /** Undefined while the queue is short, else a promise that resolves when it is short again. */
  room(): Promise<void> | undefined {
    if (this.#waiting.length < SHORT_QUEUE) return undefined;
    if (this.#room === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((fulfil) => (resolve = fulfil));
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.pump();
  }

  /** Before all that were added by `add`. */
  addUrgent(item: T): void {
    this.#urgent.push(item);
    this.pump();
  }

  /** A started item no longer needs its place. */
  release(): void {
    this.#permits.giveBack();
    this.pump();
  }

  /** Starts what there is room for. A start that adds or releases is served by the loop already running. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#urgent.length + this.#waiting.length > 0 && this.#permits.take()) {
      const item = this.#urgent.length > 0 ? this.#urgent.shift() : this.#waiting.shift();
      if (item !== undefined) this.#start(item);
    }
    this.#pumping = false;
    if (this.#room === undefined || this.#waiting.length >= SHORT_QUEUE / 2) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  /** Takes items out of the queue from the front, up to the first that is not stale. Urgent ones stay. */
  dropWhile(isStale: (item: T) => boolean, drop: (item: T) => void): void {
    for (let item = this.#waiting.peek(); item !== undefined && isStale(item);) {
      this.#waiting.shift();
      drop(item);
      item = this.#waiting.peek();
    }
  }
}
