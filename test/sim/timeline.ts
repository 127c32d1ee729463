import type { Clock } from "../../src/base/clock.ts";
import { quiet } from "./one-thread.ts";

interface Event {
  atMs: number;
  order: number;
  readonly of: Lifetime | undefined;
  readonly task: () => void;
  isOver: boolean;
}

/** Of one simulated process from its start to its end; what is due for it later never comes. */
export interface Lifetime {
  readonly name: string;
  isAlive: boolean;
  /** It has no turn before this. */
  frozenUntilMs: number;
  /** Added to the calendar that it reads. */
  skewMs: number;
  /** It does not reach the shared stores before this. */
  partedUntilMs: number;
}

export const newLife = (name: string): Lifetime => ({
  name,
  isAlive: true,
  frozenUntilMs: 0,
  skewMs: 0,
  partedUntilMs: 0,
});

/** The one order of all that happens. */
export class Timeline {
  /** Since the beginning; never back. */
  nowMs = 0;
  /** Milliseconds since the Unix epoch at the beginning. */
  readonly beganMs = Date.UTC(2026, 0, 5);
  events = 0;
  /** What waits, as a heap: the earliest first, and of those at one time the oldest. */
  readonly #heap: Event[] = [];
  #order = 0;

  after(of: Lifetime | undefined, delayMs: number, task: () => void): () => void {
    this.#order += 1;
    const atMs = this.nowMs + Math.max(0, delayMs);
    const event = { atMs, order: this.#order, of, task, isOver: false };
    this.#push(event);
    return () => {
      event.isOver = true;
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(undefined, delayMs, resolve));
  }

  clockOf(life: Lifetime): Clock {
    return {
      nowMs: () => this.beganMs + this.nowMs + life.skewMs,
      monotonicMs: () => this.nowMs,
      after: (delayMs, task) => this.after(life, delayMs, task),
    };
  }

  /** What one process waits for; a process whose number only grows leaks timers. */
  waiting(life: Lifetime): number {
    return this.#heap.filter(({ of, isOver }) => of === life && !isOver).length;
  }

  /** Runs what is due until `isDone`, or throws when nothing is left or `limitMs` is reached. */
  async run(isDone: () => boolean, limitMs: number): Promise<void> {
    await quiet();
    while (!isDone()) {
      if (!this.step()) throw new Error("nothing is left to happen");
      if (this.nowMs > limitMs) throw new Error(`not done after ${String(limitMs)} ms`);
      await quiet();
    }
  }

  /** Does what is due next; false when nothing is left. */
  step(): boolean {
    for (;;) {
      const event = this.#pop();
      if (event === undefined) return false;
      if (event.isOver || event.of?.isAlive === false) continue;
      const wakesMs = event.of?.frozenUntilMs ?? 0;
      if (wakesMs > Math.max(this.nowMs, event.atMs)) {
        event.atMs = wakesMs;
        this.#push(event);
        continue;
      }
      this.nowMs = Math.max(this.nowMs, event.atMs);
      event.isOver = true;
      this.events += 1;
      event.task();
      return true;
    }
  }

  /** Everything stands still for so long: what falls due meanwhile comes late, once. */
  leap(ms: number): void {
    this.nowMs += ms;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !isBefore(event, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (a: Event, b: Event): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
