import { type Answer, Askers, type Awaitable, type Until } from "../core/mail/lookup.ts";
import type { OwnerKey } from "../base/owner.ts";
import { type Reservation, NoRoom, type Share } from "../base/shares.ts";
import type { AnswerCache, LookupOutcome } from "./cache.ts";
import type { Clock } from "../base/clock.ts";

/** A turn that comes later is of no use: its caller has given up, or soon will. */
const WAIT_MAX_MS = 2_000;

/** A silent name keeps its place for 2.6 s: without shares one caller with a few hundred of them had all places. */
export interface QuestionPlaces {
  readonly share: Pick<Share, "takeIfFree" | "wait">;
  readonly clock: Clock;
}

/** Undefined when the owner has too many waiting, or its turn came too late. */
async function placeInTurn({ share, clock }: QuestionPlaces, by: OwnerKey) {
  const sinceMs = clock.monotonicMs();
  try {
    const hold = await share.wait(by);
    if (clock.monotonicMs() - sinceMs <= WAIT_MAX_MS) return hold;
    hold.release();
  } catch (error) {
    if (!(error instanceof NoRoom)) throw error;
  }
  return undefined;
}

export interface AskedBy {
  readonly by?: OwnerKey | undefined;
  readonly until?: Until | undefined;
}

export type FetchRecords<T> = (
  name: string,
  done: (outcome: LookupOutcome<T>) => void,
  asked: AskedBy,
) => void;

interface Flight<T> {
  readonly answer: Promise<Answer<T>>;
  readonly askers: Askers;
}

/** Not kept: the next asker may have a place. */
const NO_PLACE = { kind: "unknown", why: "deadline" } as const;

export class CachedFetcher<T> {
  hits = 0;
  misses = 0;
  joined = 0;
  /** Asked again before they expired, because they are often read. */
  refreshed = 0;
  readonly #cache: AnswerCache<T>;
  readonly #fetch: FetchRecords<T>;
  readonly #places: QuestionPlaces | undefined;
  readonly #flights = new Map<string, Flight<T>>();

  constructor(cache: AnswerCache<T>, fetch: FetchRecords<T>, places?: QuestionPlaces) {
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

  /** `isAgain`: a cached `unknown` is asked again, and nothing is refreshed. */
  ask(name: string, asked: AskedBy, isAgain = false): Awaitable<Answer<T>> {
    const cached = this.#cache.get(name);
    if (cached === undefined || (isAgain && cached.answer.kind === "unknown")) {
      return this.#fly(name, asked);
    }
    this.hits += 1;
    if (cached.isDue && !isAgain && !this.#flights.has(name)) {
      this.refreshed += 1;
      void this.#start(name, {});
    }
    return cached.answer;
  }

  #fly(name: string, asked: AskedBy): Promise<Answer<T>> {
    const { by, until } = asked;
    const flight = this.#flights.get(name);
    if (flight !== undefined) return this.#join(flight, until);
    if (by === undefined || this.#places === undefined) {
      this.misses += 1;
      return this.#start(name, { until });
    }
    const place = this.#places.share.takeIfFree(by);
    if (place === undefined) return this.#inTurn(name, asked, placeInTurn(this.#places, by));
    this.misses += 1;
    return this.#start(name, asked, place);
  }

  #join(flight: Flight<T>, until: Until | undefined): Promise<Answer<T>> {
    this.joined += 1;
    flight.askers.add(until);
    return flight.answer;
  }

  /** Each asker waits for a place of its own, also for a name that another owner waits to ask for. */
  async #inTurn(
    name: string,
    asked: AskedBy,
    turn: Promise<Reservation | undefined>,
  ): Promise<Answer<T>> {
    const place = await turn;
    if (place === undefined) return NO_PLACE;
    const known = this.#cache.get(name)?.answer;
    const flight = this.#flights.get(name);
    if (known === undefined && flight === undefined && asked.until?.isPast !== true) {
      this.misses += 1;
      return this.#start(name, asked, place);
    }
    place.release();
    if (flight !== undefined) return this.#join(flight, asked.until);
    this.joined += 1;
    return known ?? NO_PLACE;
  }

  #start(name: string, { by, until }: AskedBy, place?: Reservation): Promise<Answer<T>> {
    const askers = new Askers();
    askers.add(until);
    const answer = new Promise<Answer<T>>((resolve) => {
      const done = (outcome: LookupOutcome<T>): void => {
        place?.release();
        this.#flights.delete(name);
        // Given up because nobody waited any more: the next asker may have more time.
        const isGivenUp = outcome.kind === "unknown" && outcome.why === "deadline";
        resolve(isGivenUp && askers.isPast ? outcome : this.#cache.put(name, outcome));
      };
      this.#fetch(name, done, { by, until: askers });
    });
    this.#flights.set(name, { answer, askers });
    return answer;
  }
}
