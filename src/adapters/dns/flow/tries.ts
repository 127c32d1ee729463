import { DueList } from "./due-list.ts";
import type { Patience } from "./patience.ts";
import type { Attempt, Reading } from "../query.ts";
import { TryList } from "./try-list.ts";
import { TryTimes } from "./try-times.ts";
import type { Window } from "./window.ts";

/**
 * A place is kept this long where the server may limit us, so that it is asked less: after SERVFAIL and REFUSED, which
 * come at once, since their try; where a retry was answered, since the first.
 */
const HOLD_MS = 1_000;

export interface TriesDeps {
  readonly window: Pick<Window, "answered" | "failed">;
  /** Called for each try without an answer in its time. */
  readonly expired: (attempt: Attempt) => void;
  /** Gives one place back. */
  readonly release: () => void;
}

/** The tries of one client: how long each is waited for, and how long its place is kept. */
export class Tries {
  readonly #window: TriesDeps["window"];
  readonly #times: TryTimes;
  /** By their number. */
  readonly #lists: readonly TryList<Attempt>[];
  /** Places kept, by since when. */
  readonly #kept: DueList<number>;

  constructor(patience: Patience, { window, expired, release }: TriesDeps) {
    const times = new TryTimes(patience);
    this.#window = window;
    this.#times = times;
    this.#lists = patience.triesMs.map((_, at) => new TryList(() => times.ofTryMs(at), expired));
    this.#kept = new DueList((sinceMs) => sinceMs + HOLD_MS, release);
  }

  /** Places kept for questions that are answered. */
  get kept(): number {
    return this.#kept.length;
  }

  add(attempt: Attempt): void {
    this.#lists[attempt.number]?.add(attempt);
  }

  /** `attempt` was answered, and what was read means `reading`. */
  answered(attempt: Attempt, reading: Reading, nowMs: number): void {
    const { query } = attempt;
    if (reading === "settles") this.#times.answered(nowMs - query.startedAtMs);
    if (reading === "servfail" || reading === "refused") {
      this.#window.failed(attempt.epoch);
      this.#keepPlace(attempt, attempt.sentAtMs);
    } else if (attempt.list !== undefined) {
      this.#window.answered(attempt.epoch);
      if (attempt.number > 0) this.#keepPlace(attempt, query.startedAtMs);
    }
  }

  run(nowMs: number): void {
    for (const list of this.#lists) list.run(nowMs);
    this.#kept.run(nowMs);
  }

  releaseKept(): void {
    this.#kept.run(Infinity);
  }

  #keepPlace(attempt: Attempt, sinceMs: number): void {
    if (attempt.lane === undefined) return;
    attempt.lane = undefined;
    this.#kept.add(sinceMs);
  }
}
