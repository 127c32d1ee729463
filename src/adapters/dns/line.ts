import type { Answer, Awaitable } from "../../core/mail/lookup.ts";
import type { AnswerCache, Outcome } from "./cache.ts";

/** Asks DNS; calls `done` once, and never before it returns. */
export type Fetch<T> = (name: string, done: (outcome: Outcome<T>) => void) => void;

/** Answers of one type: from the cache at once, else asked for, and each question asked once at a time. */
export class Line<T> {
  /** Answered from the cache. */
  hits = 0;
  /** Asked for. */
  misses = 0;
  /** Joined a question that was under way. */
  joined = 0;
  /** Asked again before they expired, because they are often read. */
  refreshed = 0;
  readonly #cache: AnswerCache<T>;
  readonly #fetch: Fetch<T>;
  readonly #flights = new Map<string, Promise<Answer<T>>>();

  constructor(cache: AnswerCache<T>, fetch: Fetch<T>) {
    this.#cache = cache;
    this.#fetch = fetch;
  }

  get size(): number {
    return this.#cache.size;
  }

  forgetAbsent(): void {
    this.#cache.forgetAbsent();
  }

  ask(name: string): Awaitable<Answer<T>> {
    const cached = this.#cache.get(name);
    if (cached === undefined) return this.#fly(name);
    this.hits += 1;
    if (cached.isDue && !this.#flights.has(name)) {
      this.refreshed += 1;
      void this.#start(name);
    }
    return cached.answer;
  }

  /** The same, but asks again if only "could not tell" is cached. */
  askAgain(name: string): Awaitable<Answer<T>> {
    const cached = this.#cache.get(name);
    if (cached === undefined || cached.answer.kind === "unknown") return this.#fly(name);
    this.hits += 1;
    return cached.answer;
  }

  #fly(name: string): Promise<Answer<T>> {
    const flight = this.#flights.get(name);
    if (flight !== undefined) {
      this.joined += 1;
      return flight;
    }
    this.misses += 1;
    return this.#start(name);
  }

  #start(name: string): Promise<Answer<T>> {
    const flight = new Promise<Answer<T>>((resolve) => {
      this.#fetch(name, (outcome) => {
        this.#flights.delete(name);
        resolve(this.#cache.put(name, outcome));
      });
    });
    this.#flights.set(name, flight);
    return flight;
  }
}
