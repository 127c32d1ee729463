import type {
  Answer,
  Awaitable,
  Lookup,
  PremiumLookup,
  Unknown,
  UnknownReason,
} from "../../core/mail/lookup.ts";
import { when } from "../../core/when.ts";
import type { Clock } from "../../ports/process/clock.ts";

const OVERDUE: Unknown = { kind: "unknown", why: "deadline" };

/** The answer without premium fields is sent by then, even when DNS is silent. */
export const CORE_BUDGET_MS = 5_000;

/** Core fields never wait longer than this for premium ones, counted from the start of the request. */
const PREMIUM_BUDGET_MS = 4_000;

/** Lookups with an end, and when the first of their answers goes stale. */
export interface BoundedLookup {
  /** What is open when the core budget is spent is `unknown`. */
  readonly lookup: Lookup;
  readonly premium: PremiumLookup;
  /** Milliseconds since the Unix epoch; the earliest `expiresAtMs` of the answers so far, else Infinity. */
  readonly expiresAtMs: () => number;
  /** Whether a question about mail hosts got no answer: it was overdue, or no name server spoke. */
  readonly isUnanswered: () => boolean;
  /** Takes the timers back. Call it when the result is out. */
  readonly end: () => void;
}

/**
 * Bounds every question by budgets counted from now: what is still open then is `unknown`, and what is
 * asked later is `unknown` at once. Bulk entries may have a longer one, because no client waits for each. Known answers need no promise and no timer.
 */
export function boundLookup(
  lookup: Lookup,
  clock: Clock,
  coreBudgetMs: number = CORE_BUDGET_MS,
  by?: string,
): BoundedLookup {
  const deadlines: Deadline[] = [];
  const startedMs = clock.monotonicMs();
  let expiresAtMs = Infinity;
  let isUnanswered = false;
  const note = <T>(answer: Answer<T>): Answer<T> => {
    expiresAtMs = Math.min(expiresAtMs, answer.expiresAtMs ?? 0);
    return answer;
  };
  const noteMail = <T>(answer: Answer<T>): Answer<T> => {
    if (answer.kind === "unknown" && SILENT.has(answer.why)) isUnanswered = true;
    return answer;
  };
  const until = (atMs: number): Lookup => {
    const deadline = new Deadline(clock, atMs);
    deadlines.push(deadline);
    const bound = <T>(ask: () => Awaitable<Answer<T>>): Awaitable<Answer<T>> => {
      if (deadline.isPast) return note<T>(OVERDUE);
      return when(ask(), note<T>, (late) => deadline.race(late));
    };
    return {
      mx: (name) => bound(() => lookup.mx(name)),
      addresses: (host) => bound(() => lookup.addresses(host)),
      txt: (name) => bound(() => lookup.txt(name)),
      registration: (name) => bound(() => lookup.registration(name, by)),
    };
  };
  const premiumEndMs = startedMs + Math.min(PREMIUM_BUDGET_MS, coreBudgetMs);
  const core = until(startedMs + coreBudgetMs);
  return {
    lookup: { ...core, mx: (name) => when(core.mx(name), noteMail) },
    premium: {
      lookup: until(premiumEndMs),
      within: (milliseconds) => until(Math.min(clock.monotonicMs() + milliseconds, premiumEndMs)),
    },
    expiresAtMs: () => expiresAtMs,
    isUnanswered: () => isUnanswered,
    end: () => {
      for (const deadline of deadlines) deadline.end();
    },
  };
}

/** No name server said anything, not even that it cannot tell. */
const SILENT: ReadonlySet<UnknownReason> = new Set(["deadline", "timeout", "network"]);

/** One point in time that many questions race; its timer starts with the first that has to wait. */
class Deadline {
  readonly #clock: Clock;
  readonly #atMs: number;
  readonly #waiting = new Set<() => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, atMs: number) {
    this.#clock = clock;
    this.#atMs = atMs;
  }

  get isPast(): boolean {
    return this.#clock.monotonicMs() >= this.#atMs;
  }

  race<T>(open: Promise<Answer<T>>): Promise<Answer<T>> {
    this.#cancel ??= this.#clock.after(this.#atMs - this.#clock.monotonicMs(), () => this.#fire());
    return new Promise((resolve, reject) => {
      const overdue = (): void => resolve(OVERDUE);
      this.#waiting.add(overdue);
      open.then(resolve, reject).finally(() => this.#waiting.delete(overdue));
    });
  }

  end(): void {
    this.#cancel?.();
  }

  #fire(): void {
    for (const overdue of this.#waiting) overdue();
    this.#waiting.clear();
  }
}
