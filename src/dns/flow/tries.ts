import type { OwnerKey } from "../../base/owner.ts";
import type { Patience } from "./patience.ts";
import type { Attempt, Reading } from "../query.ts";
import { TryList } from "./try-list.ts";
import type { Window } from "./window.ts";
import { Fifo } from "../../base/fair-queue.ts";

/** Items that are all due after the same delay, so they are due in order of insertion. */
export class DueList<T> {
  readonly #items = new Fifo<T>();
  readonly #dueAtMs: (item: T) => number;
  readonly #act: (item: T) => void;

  /** `act` is called for each due item, including settled ones. */
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

/** Of the mean and of the deviation: a few thousand answers a second take some tenths of a second to change them. */
const GAIN = 1 / 256;
/** RFC 6298 section 2: a retransmission time-out is the mean and four mean deviations. */
const DEVIATIONS = 4;

/**
 * How long to wait for each try before the next, by what answers take: the retransmission time-out of RFC 6298, times the
 * number of the try, between `fastTriesMs` and `triesMs`. At most one answer in eight takes longer than that, whatever
 * their spread (Markov's inequality), and of those with a long tail one in thirty. Nothing is known at the start, so it
 * begins with the longest.
 */
export class TryTimes {
  readonly #patience: Patience;
  #meanMs: number;
  #deviationMs: number;

  constructor(patience: Patience) {
    this.#patience = patience;
    const mostMs = Math.max(...patience.triesMs);
    this.#meanMs = mostMs / 2;
    this.#deviationMs = mostMs / 2 / DEVIATIONS;
  }

  /**
   * A question was answered `tookMs` after its first try, whichever try was answered. Late answers count too. Without them
   * only fast ones would be known, and the time-out would shrink further and further.
   */
  answered(tookMs: number): void {
    const apart = tookMs - this.#meanMs;
    this.#meanMs += apart * GAIN;
    this.#deviationMs += (Math.abs(apart) - this.#deviationMs) * GAIN;
  }

  /** `at`: 0 for the first try. */
  ofTryMs(at: number): number {
    const { triesMs, fastTriesMs = triesMs } = this.#patience;
    const timeOutMs = (this.#meanMs + DEVIATIONS * this.#deviationMs) * (at + 1);
    return Math.min(triesMs[at] ?? 0, Math.max(fastTriesMs[at] ?? 0, timeOutMs));
  }
}

/** SERVFAIL and REFUSED come at once. Their tries keep their places this long, so that a server that limits us is asked less. */
const REFUSED_HOLD_MS = 1_000;
/** The same for loss, from a question's first try on, when a retry was answered: a server may drop what is over its limit. */
const LOST_HOLD_MS = 1_200;

/** The last answers of a list are those that took long: once nothing new is asked they say nothing of the others. */
const STILL_ASKING_MS = 50;

/** A place whose question is answered. */
interface Kept {
  readonly untilMs: number;
  readonly by: OwnerKey | undefined;
}

export interface TriesDeps {
  readonly window: Pick<Window, "answered" | "failed" | "late">;
  /** Called for each try without an answer in its time. */
  readonly expired: (attempt: Attempt) => void;
  /** Gives one place back; `by`: whose question had it. */
  readonly release: (by: OwnerKey | undefined) => void;
}

/** The tries of one client: how long each is waited for, and how long its place is kept. */
export class Tries {
  readonly #window: TriesDeps["window"];
  readonly #times: TryTimes;
  /** By their number. */
  readonly #lists: readonly TryList<Attempt>[];
  /** When the last first try was sent. */
  #askedAtMs = -Infinity;
  /** Until when places are kept, in the order in which they came: one may wait behind a later one for up to a second. */
  readonly #kept: DueList<Kept>;

  constructor(patience: Patience, { window, expired, release }: TriesDeps) {
    const times = new TryTimes(patience);
    this.#window = window;
    this.#times = times;
    this.#lists = patience.triesMs.map((_, at) => new TryList(() => times.ofTryMs(at), expired));
    this.#kept = new DueList(
      ({ untilMs }) => untilMs,
      ({ by }) => release(by),
    );
  }

  /** Places kept for questions that are answered. */
  get kept(): number {
    return this.#kept.length;
  }

  add(attempt: Attempt): void {
    if (attempt.number === 0) this.#askedAtMs = attempt.sentAtMs;
    this.#lists[attempt.number]?.add(attempt);
  }

  /** `attempt` was answered, and what was read means `reading`. */
  answered(attempt: Attempt, reading: Reading, nowMs: number): void {
    const { query } = attempt;
    const isAsking = nowMs - this.#askedAtMs <= STILL_ASKING_MS;
    if (reading === "settles" && isAsking) this.#times.answered(nowMs - query.startedAtMs);
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
