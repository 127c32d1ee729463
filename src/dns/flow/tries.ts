import type { OwnerKey } from "../../base/owner.ts";
import { DueList } from "./due-list.ts";
import type { Patience } from "./patience.ts";
import type { Attempt, Reading } from "../query.ts";
import { TryList } from "./try-list.ts";
import { TryTimes } from "./try-times.ts";
import type { Window } from "./window.ts";

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
