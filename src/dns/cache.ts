import { DAY_MS } from "../core/calendar.ts";
import { type Answer, Askers, type Awaitable, type Until } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
import type { OwnerKey } from "../base/owner.ts";
import type { Reply } from "./message/wire.ts";

const FOUND_MIN_MS = 30_000;
const FOUND_MAX_MS = DAY_MS;

/** One to three hours "make sensible a default" for negative answers (RFC 2308 section 5). */
const ABSENT_MAX_MS = 3_600_000;

/** Without a SOA a negative answer "should not be cached" (RFC 2308 section 5); 5 s spare the server a burst of the same question. */
const ABSENT_WITHOUT_SOA_MS = 5_000;

/** A question without an answer is asked again after 5 s, then after twice as long each time, up to 30 s. */
const UNKNOWN_MIN_MS = 5_000;
const UNKNOWN_MAX_MS = 30_000;

/** An answer read this often is refreshed when less than this share of its lifetime is left. */
const HOT_HITS = 3;
const REFRESH_SHARE = 0.1;

/** Estimates of an entry without its name and records (objects, map cell), and of a record without its text. */
const OVERHEAD_OCTETS = 280;
const RECORD_OCTETS = 64;
const STEP_OCTETS = 64;

export type LookupOutcome<T> = Exclude<Reply<T>, { kind: "alias" }>;

interface CachedAnswer<T> {
  readonly name: string;
  readonly answer: Answer<T>;
  /** By the monotonic clock, since the cache began, in whole milliseconds (which V8 keeps in place). */
  readonly untilMs: number;
  readonly lifeMs: number;
  readonly weight: number;
  hits: number;
  older: CachedAnswer<T> | undefined;
  newer: CachedAnswer<T> | undefined;
}

interface Cached<T> {
  readonly answer: Answer<T>;
  readonly isDue: boolean;
}

interface CacheOptions<T> {
  readonly octetsMax: number;
  readonly clock: Clock;
  readonly sizeOctets: (record: T) => number;
}

/** What was used longest ago goes first. A map alone would not do: V8 steps over all deleted entries to find the first. */
export class AnswerCache<T> {
  readonly #options: CacheOptions<T>;
  readonly #startMs: number;
  readonly #entries = new Map<string, CachedAnswer<T>>();
  #oldest: CachedAnswer<T> | undefined;
  #newest: CachedAnswer<T> | undefined;
  #weight = 0;

  constructor(options: CacheOptions<T>) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
  }

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Cached<T> | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    const leftMs = entry.untilMs - this.#elapsedMs();
    if (leftMs <= 0) return undefined;
    this.#unlink(entry);
    this.#append(entry);
    entry.hits += 1;
    const isDue = entry.hits >= HOT_HITS && leftMs < entry.lifeMs * REFRESH_SHARE;
    if (isDue) entry.hits = 0;
    return { answer: entry.answer, isDue: isDue && entry.answer.kind !== "unknown" };
  }

  put(name: string, outcome: LookupOutcome<T>): Answer<T> {
    const before = this.#entries.get(name);
    const lifeMs = this.#lifeMs(outcome, before);
    const answer = answerOf(outcome, Math.floor(this.#options.clock.nowMs()) + lifeMs);
    if (outcome.kind === "unknown" && before !== undefined && this.#isAnswered(before))
      return answer;
    const weight = this.#weigh(name, outcome);
    const untilMs = Math.floor(this.#elapsedMs()) + lifeMs;
    if (before !== undefined) this.#drop(before);
    if (weight > this.#options.octetsMax) return answer;
    const ends = { older: undefined, newer: undefined };
    const entry: CachedAnswer<T> = { name, answer, untilMs, lifeMs, weight, hits: 0, ...ends };
    this.#entries.set(name, entry);
    this.#append(entry);
    this.#weight += weight;
    while (this.#weight > this.#options.octetsMax && this.#oldest) this.#drop(this.#oldest);
    return answer;
  }

  forgetAbsent(): void {
    for (const entry of this.#entries.values())
      if (entry.answer.kind === "absent") this.#drop(entry);
  }

  #drop(entry: CachedAnswer<T>): void {
    this.#entries.delete(entry.name);
    this.#unlink(entry);
    this.#weight -= entry.weight;
  }

  #append(entry: CachedAnswer<T>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: CachedAnswer<T>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }

  #elapsedMs(): number {
    return this.#options.clock.monotonicMs() - this.#startMs;
  }

  #isAnswered({ answer, untilMs }: CachedAnswer<T>): boolean {
    return answer.kind !== "unknown" && untilMs > this.#elapsedMs();
  }

  #lifeMs(outcome: LookupOutcome<T>, before: CachedAnswer<T> | undefined): number {
    switch (outcome.kind) {
      case "found":
        return Math.min(FOUND_MAX_MS, Math.max(FOUND_MIN_MS, outcome.ttlSeconds * 1_000));
      case "absent":
        if (outcome.ttlSeconds === undefined) return ABSENT_WITHOUT_SOA_MS;
        return Math.min(ABSENT_MAX_MS, outcome.ttlSeconds * 1_000);
      case "unknown":
        if (before?.answer.kind !== "unknown") return UNKNOWN_MIN_MS;
        return Math.min(UNKNOWN_MAX_MS, before.lifeMs * 2);
    }
  }

  #weigh(name: string, outcome: LookupOutcome<T>): number {
    let octets = OVERHEAD_OCTETS + name.length;
    if (outcome.kind === "found") {
      for (const record of outcome.records) {
        octets += RECORD_OCTETS + this.#options.sizeOctets(record);
      }
    }
    return Math.ceil(octets / STEP_OCTETS) * STEP_OCTETS;
  }
}

function answerOf<T>(outcome: LookupOutcome<T>, expiresAtMs: number): Answer<T> {
  if (outcome.kind === "unknown") return { ...outcome, expiresAtMs };
  const { ttlSeconds: _, ...answer } = outcome;
  return { ...answer, expiresAtMs };
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

export class CachedFetcher<T> {
  hits = 0;
  misses = 0;
  joined = 0;
  refreshed = 0;
  readonly #cache: AnswerCache<T>;
  readonly #fetch: FetchRecords<T>;
  readonly #flights = new Map<string, Flight<T>>();

  constructor(cache: AnswerCache<T>, fetch: FetchRecords<T>) {
    this.#cache = cache;
    this.#fetch = fetch;
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
    const flight = this.#flights.get(name);
    if (cached === undefined || (isAgain && cached.answer.kind === "unknown")) {
      if (flight === undefined) {
        this.misses += 1;
        return this.#start(name, asked);
      }
      this.joined += 1;
      flight.askers.add(asked.until);
      return flight.answer;
    }
    this.hits += 1;
    if (cached.isDue && !isAgain && flight === undefined) {
      this.refreshed += 1;
      void this.#start(name, {});
    }
    return cached.answer;
  }

  #start(name: string, { by, until }: AskedBy): Promise<Answer<T>> {
    const askers = new Askers();
    askers.add(until);
    const answer = new Promise<Answer<T>>((resolve) => {
      const done = (outcome: LookupOutcome<T>): void => {
        this.#flights.delete(name);
        // Given up, or it found no place in time: the next asker may have more luck.
        const isGivenUp = outcome.kind === "unknown" && outcome.why === "deadline";
        resolve(isGivenUp ? outcome : this.#cache.put(name, outcome));
      };
      this.#fetch(name, done, { by, until: askers });
    });
    this.#flights.set(name, { answer, askers });
    return answer;
  }
}
