import { LRUCache } from "lru-cache";
import { DAY_MS } from "../core/calendar.ts";
import type { Answer } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
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

export type Outcome<T> = Exclude<Reply<T>, { kind: "alias" }>;

interface Held<T> {
  readonly answer: Answer<T>;
  /** By the monotonic clock, since the cache began, in whole milliseconds (which V8 keeps in place). */
  readonly untilMs: number;
  readonly lifeMs: number;
  readonly weight: number;
  hits: number;
}

export interface Cached<T> {
  readonly answer: Answer<T>;
  readonly isDue: boolean;
}

export interface CacheOptions<T> {
  readonly octetsMax: number;
  readonly clock: Clock;
  readonly sizeOctets: (record: T) => number;
}

export class AnswerCache<T> {
  readonly #options: CacheOptions<T>;
  readonly #startMs: number;
  readonly #held: LRUCache<string, Held<T>>;

  constructor(options: CacheOptions<T>) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
    this.#held = new LRUCache({
      maxSize: Math.max(1, Math.floor(options.octetsMax)),
      sizeCalculation: ({ weight }: Held<T>) => weight,
    });
  }

  get size(): number {
    return this.#held.size;
  }

  get(name: string): Cached<T> | undefined {
    const held = this.#held.get(name);
    if (held === undefined) return undefined;
    const leftMs = held.untilMs - this.#elapsedMs();
    if (leftMs <= 0) return undefined;
    held.hits += 1;
    const isDue = held.hits >= HOT_HITS && leftMs < held.lifeMs * REFRESH_SHARE;
    if (isDue) held.hits = 0;
    return { answer: held.answer, isDue: isDue && held.answer.kind !== "unknown" };
  }

  put(name: string, outcome: Outcome<T>): Answer<T> {
    const before = this.#held.peek(name);
    const lifeMs = this.#lifeMs(outcome, before);
    const answer = answerOf(outcome, Math.floor(this.#options.clock.nowMs()) + lifeMs);
    if (outcome.kind === "unknown" && before !== undefined && this.#isAnswered(before))
      return answer;
    const weight = this.#weigh(name, outcome);
    const untilMs = Math.floor(this.#elapsedMs()) + lifeMs;
    this.#held.set(name, { answer, untilMs, lifeMs, weight, hits: 0 });
    return answer;
  }

  forgetAbsent(): void {
    for (const [name, { answer }] of this.#held.entries()) {
      if (answer.kind === "absent") this.#held.delete(name);
    }
  }

  #elapsedMs(): number {
    return this.#options.clock.monotonicMs() - this.#startMs;
  }

  #isAnswered({ answer, untilMs }: Held<T>): boolean {
    return answer.kind !== "unknown" && untilMs > this.#elapsedMs();
  }

  #lifeMs(outcome: Outcome<T>, before: Held<T> | undefined): number {
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

  #weigh(name: string, outcome: Outcome<T>): number {
    let octets = OVERHEAD_OCTETS + name.length;
    if (outcome.kind === "found") {
      for (const record of outcome.records) {
        octets += RECORD_OCTETS + this.#options.sizeOctets(record);
      }
    }
    return Math.ceil(octets / STEP_OCTETS) * STEP_OCTETS;
  }
}

function answerOf<T>(outcome: Outcome<T>, expiresAtMs: number): Answer<T> {
  switch (outcome.kind) {
    case "found":
      return { kind: "found", records: outcome.records, expiresAtMs };
    case "absent":
      return { kind: "absent", why: outcome.why, expiresAtMs };
    case "unknown":
      return { kind: "unknown", why: outcome.why, expiresAtMs };
  }
}
