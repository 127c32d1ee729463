import { Fifo } from "./fifo.ts";

/** A line this short is refilled: enough that places never stay empty, few enough to be cheap. */
const SHORT_LINE = 256;

/** Lets a limited number of items run at once; the others wait in line. */
export class Lane<T> {
  readonly #waiting = new Fifo<T>();
  readonly #limit: () => number;
  readonly #start: (item: T) => void;
  #running = 0;
  #pumping = false;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** `limit` is asked before every start; `start` must not throw. */
  constructor(limit: () => number, start: (item: T) => void) {
    this.#limit = limit;
    this.#start = start;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.#running >= this.#limit();
  }

  /** Undefined while the line is short, else a promise of the moment when it is. */
  room(): Promise<void> | undefined {
    if (this.#waiting.length < SHORT_LINE) return undefined;
    if (this.#room === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((fulfil) => (resolve = fulfil));
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.pump();
  }

  /** One that was started needs its place no longer. */
  release(): void {
    this.#running -= 1;
    this.pump();
  }

  /** Starts what there is room for. A start that adds or releases is served by the loop already running. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#waiting.length > 0 && !this.isFull) {
      const item = this.#waiting.shift();
      if (item === undefined) break;
      this.#running += 1;
      this.#start(item);
    }
    this.#pumping = false;
    if (this.#room === undefined || this.#waiting.length >= SHORT_LINE / 2) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  /** Takes those out of the line that `isStale` says of, from the front, up to the first that is not. */
  dropWhile(isStale: (item: T) => boolean, drop: (item: T) => void): void {
    for (let item = this.#waiting.peek(); item !== undefined && isStale(item);) {
      this.#waiting.shift();
      drop(item);
      item = this.#waiting.peek();
    }
  }
}
