import type {
  Awaitable,
  Lookup,
  Answer,
  Unknown,
  Until,
  UnknownReason,
} from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";

const OVERDUE: Unknown = { kind: "unknown", why: "deadline" };

/** The answer without premium fields is sent by then, even when DNS is silent. */
export const CORE_BUDGET_MS = 5_000;

/** Core fields never wait longer than this for premium ones, counted from the start of the request. */
const PREMIUM_BUDGET_MS = 4_000;

/** What is open when its budget is spent, and what is asked later, is `unknown`. Known answers need no promise. */
export class BoundedLookup {
  readonly lookup: Lookup;
  readonly #inner: Lookup;
  readonly #clock: Clock;
  readonly #by: string | undefined;
  readonly #premiumEndMs: number;
  readonly #deadlines: Deadline[] = [];
  #expiresAtMs = Infinity;
  #isUnanswered = false;

  constructor(lookup: Lookup, clock: Clock, coreBudgetMs: number = CORE_BUDGET_MS, by?: string) {
    this.#inner = lookup;
    this.#clock = clock;
    this.#by = by;
    const startedMs = clock.monotonicMs();
    this.#premiumEndMs = startedMs + Math.min(PREMIUM_BUDGET_MS, coreBudgetMs);
    this.lookup = this.#until(startedMs + coreBudgetMs, true);
  }

  within(milliseconds: number): Lookup {
    const endMs = this.#clock.monotonicMs() + milliseconds;
    return this.#until(Math.min(endMs, this.#premiumEndMs), false);
  }

  expiresAtMs(): number {
    return this.#expiresAtMs;
  }

  isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  end(): void {
    for (const deadline of this.#deadlines) deadline.end();
  }

  #until(atMs: number, isCore: boolean): Lookup {
    const lookup = this.#inner;
    const by = this.#by;
    const deadline = new Deadline(this.#clock, atMs);
    this.#deadlines.push(deadline);
    const note = <T>(answer: Answer<T>): Answer<T> => {
      this.#expiresAtMs = Math.min(this.#expiresAtMs, answer.expiresAtMs ?? 0);
      return answer;
    };
    const noteMail = <T>(answer: Answer<T>): Answer<T> => {
      if (isCore && answer.kind === "unknown" && SILENT.has(answer.why)) this.#isUnanswered = true;
      return note(answer);
    };
    return {
      mx: (name) => deadline.bound(() => lookup.mx(name, by, deadline), noteMail),
      addresses: (host) => deadline.bound(() => lookup.addresses(host, by, deadline), note),
      txt: (name) => deadline.bound(() => lookup.txt(name, by, deadline), note),
      registration: (name) => deadline.bound(() => lookup.registration(name, by, deadline), note),
    };
  }
}

const SILENT: ReadonlySet<UnknownReason> = new Set(["deadline", "timeout", "network"]);

/** One point in time that many questions race; its timer starts with the first that has to wait. */
class Deadline implements Until {
  readonly #clock: Clock;
  readonly #atMs: number;
  readonly #waiting = new Set<() => void>();
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(clock: Clock, atMs: number) {
    this.#clock = clock;
    this.#atMs = atMs;
  }

  get isPast(): boolean {
    // A timer may fire up to 1 ms early by the clock: from then on the clock is not asked.
    this.#isOver ||= this.#clock.monotonicMs() >= this.#atMs;
    return this.#isOver;
  }

  bound<T>(
    ask: () => Awaitable<Answer<T>>,
    note: (answer: Answer<T>) => Answer<T>,
  ): Awaitable<Answer<T>> {
    if (this.isPast) return note(OVERDUE);
    const answer = ask();
    return answer instanceof Promise ? this.#race(answer, note) : note(answer);
  }

  #race<T>(open: Promise<Answer<T>>, note: (answer: Answer<T>) => Answer<T>): Promise<Answer<T>> {
    this.#cancel ??= this.#clock.after(this.#atMs - this.#clock.monotonicMs(), () => this.#fire());
    return new Promise((resolve, reject) => {
      const overdue = (): void => resolve(note(OVERDUE));
      this.#waiting.add(overdue);
      open.then((answer) => {
        if (this.#waiting.delete(overdue)) resolve(note(answer));
      }, reject);
    });
  }

  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #fire(): void {
    this.#isOver = true;
    for (const overdue of this.#waiting) overdue();
    this.#waiting.clear();
  }
}
