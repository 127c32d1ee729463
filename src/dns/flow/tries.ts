import type { OwnerKey } from "../../base/owner.ts";
import type { Patience } from "./patience.ts";
import { type Attempt, type Reading, TryList } from "../query.ts";
import type { Window } from "./window.ts";
import { Fifo } from "../../base/fair-queue.ts";

export class DueList<T> {
  readonly #items = new Fifo<T>();
  readonly #dueAtMs: (item: T) => number;
  readonly #act: (item: T) => void;

  constructor(dueAtMs: (item: T) => number, act: (item: T) => void) {
    this.#dueAtMs = dueAtMs;
    this.#act = act;
  }

  get length(): number {
    return this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
  }

  run(nowMs: number): void {
    for (let item = this.#items.peek(); item !== undefined; item = this.#items.peek()) {
      if (this.#dueAtMs(item) > nowMs) return;
      this.#items.shift();
      this.#act(item);
    }
  }
}

/** SERVFAIL and REFUSED come at once. Their tries keep their places this long, so that a server that limits us is asked less. */
const REFUSED_HOLD_MS = 1_000;
/** The same for loss, from a question's first try on, when a retry was answered: a server may drop what is over its limit. */
const LOST_HOLD_MS = 1_200;

interface Kept {
  readonly untilMs: number;
  readonly by: OwnerKey | undefined;
}

export interface TriesDeps {
  readonly window: Pick<Window, "answered" | "failed" | "late">;
  readonly expired: (attempt: Attempt) => void;
  readonly release: (by: OwnerKey | undefined) => void;
}

export class Tries {
  readonly #window: TriesDeps["window"];
  readonly #lists: readonly TryList<Attempt>[];
  /** Until when places are kept, in the order in which they came: one may wait behind a later one for up to a second. */
  readonly #kept: DueList<Kept>;

  constructor(patience: Patience, { window, expired, release }: TriesDeps) {
    this.#window = window;
    this.#lists = patience.triesMs.map((tryMs) => new TryList(tryMs, expired));
    this.#kept = new DueList(
      ({ untilMs }) => untilMs,
      ({ by }) => release(by),
    );
  }

  get kept(): number {
    return this.#kept.length;
  }

  add(attempt: Attempt): void {
    this.#lists[attempt.number]?.add(attempt);
  }

  answered(attempt: Attempt, reading: Reading): void {
    const { query } = attempt;
    if (reading === "servfail" || reading === "refused") {
      this.#window.failed(attempt.epoch, query.by);
      this.#keepPlace(attempt, attempt.sentAtMs + REFUSED_HOLD_MS);
    } else if (attempt.list !== undefined) {
      this.#window.answered(attempt.epoch, query.by);
      if (attempt.number > 0) this.#keepPlace(attempt, query.startedAtMs + LOST_HOLD_MS);
    } else this.#window.late(attempt.epoch, query.by);
  }

  run(nowMs: number): void {
    for (const list of this.#lists) list.run(nowMs);
    this.#kept.run(nowMs);
  }

  releaseKept(): void {
    this.#kept.run(Infinity);
  }

  #keepPlace(attempt: Attempt, untilMs: number): void {
    if (attempt.lane === undefined) return;
    attempt.lane = undefined;
    this.#kept.add({ untilMs, by: attempt.query.by });
  }
}
