import type { Answer, Awaitable } from "../../core/mail/lookup.ts";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import type { Hold } from "../../ports/sharing/hold.ts";
import type { AnswerCache, Outcome } from "./cache.ts";
import type { QuestionPlaces } from "./question-places.ts";

/** Asks DNS; calls `done` once, and never before it returns. `by`: on whose behalf, where that is known. */
export type Fetch<T> = (name: string, done: (outcome: Outcome<T>) => void, by?: OwnerKey) => void;

/** Not kept: the next asker may have a place. */
const NO_PLACE = { kind: "unknown", why: "deadline" } as const;

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
  readonly #places: QuestionPlaces | undefined;
  readonly #flights = new Map<string, Promise<Answer<T>>>();

  /** `places`: for questions that are asked by an owner; undefined: they need none. */
  constructor(cache: AnswerCache<T>, fetch: Fetch<T>, places?: QuestionPlaces) {
    this.#cache = cache;
    this.#fetch = fetch;
    this.#places = places;
  }

  get size(): number {
    return this.#cache.size;
  }

  forgetAbsent(): void {
    this.#cache.forgetAbsent();
  }

  ask(name: string, by?: OwnerKey): Awaitable<Answer<T>> {
    const cached = this.#cache.get(name);
    if (cached === undefined) return this.#fly(name, by);
    this.hits += 1;
    if (cached.isDue && !this.#flights.has(name)) {
      this.refreshed += 1;
      void this.#start(name);
    }
    return cached.answer;
  }

  /** The same, but asks again if only "could not tell" is cached. */
  askAgain(name: string, by?: OwnerKey): Awaitable<Answer<T>> {
    const cached = this.#cache.get(name);
    if (cached === undefined || cached.answer.kind === "unknown") return this.#fly(name, by);
    this.hits += 1;
    return cached.answer;
  }

  #fly(name: string, by: OwnerKey | undefined): Promise<Answer<T>> {
    const flight = this.#flights.get(name);
    if (flight !== undefined) {
      this.joined += 1;
      return flight;
    }
    if (by === undefined || this.#places === undefined) {
      this.misses += 1;
      return this.#start(name);
    }
    const place = this.#places.takeIfFree(by);
    if (place === undefined) return this.#inTurn(name, by, this.#places.wait(by));
    this.misses += 1;
    return this.#start(name, by, place);
  }

  /** Each asker waits for a place of its own, also for a name that another owner waits to ask for. */
  async #inTurn(name: string, by: OwnerKey, turn: Promise<Hold | undefined>): Promise<Answer<T>> {
    const place = await turn;
    if (place === undefined) return NO_PLACE;
    const known = this.#cache.get(name)?.answer ?? this.#flights.get(name);
    if (known !== undefined) {
      place.release();
      this.joined += 1;
      return known;
    }
    this.misses += 1;
    return this.#start(name, by, place);
  }

  #start(name: string, by?: OwnerKey, place?: Hold): Promise<Answer<T>> {
    const flight = new Promise<Answer<T>>((resolve) => {
      const done = (outcome: Outcome<T>): void => {
        place?.release();
        this.#flights.delete(name);
        resolve(this.#cache.put(name, outcome));
      };
      this.#fetch(name, done, by);
    });
    this.#flights.set(name, flight);
    return flight;
  }
}
