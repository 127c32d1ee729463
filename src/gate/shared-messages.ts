import { LRUCache } from "lru-cache";
import { type Clock, inTime } from "../base/clock.ts";
import { entriesUpTo } from "../base/entries.ts";
import type { TrafficFacts } from "../core/policy/policy.ts";
import { isContended, isCrowded } from "../store/postgres-fault.ts";
import { KINDS, WINDOWS, within } from "./traffic-kinds.ts";
import type { Sighting, TrafficStore, TrafficSubject } from "./traffic-store.ts";

export interface Held {
  readonly sent: TrafficFacts;
  /** Seconds; absent: until less was sent. */
  readonly retryAfter?: number;
}

const MANY = Number.MAX_SAFE_INTEGER;

/** What is believed of a message that the store could not count in time: it waits. */
export const LATE: Held = { sent: { sent_10m: MANY, sent_day: MANY }, retryAfter: 5 };

/** A store that was asked and said nothing for so long is away; before that it is late. */
const AWAY_AFTER_MS = 5_000;

/** While the store is away each server assumes that two others send as much as it does. */
const SERVERS_AWAY = 3;

const COUNTINGS_MAX = 10_000;

interface Counted {
  readonly isAdded: boolean;
  /** What the store has of all processes, without this message. */
  readonly sent: TrafficFacts;
}

/** A message on its way into the store. */
interface Counting {
  readonly item: string;
  readonly atMs: number;
  readonly done: Promise<Counted>;
}

export interface SharedMessagesDeps {
  readonly store: Pick<TrafficStore, "addIf">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly item: () => string;
  readonly known: (subject: string) => TrafficSubject;
  readonly unwritten: (subject: string) => readonly Sighting[];
  readonly note: (row: Sighting) => void;
  readonly failed: (fault: unknown) => void;
}

type IsStillRight = (sent: TrafficFacts) => boolean;

/** Counts messages where other processes count too: none goes out that a store in reach has not counted. */
export class SharedMessages {
  readonly #deps: SharedMessagesDeps;
  readonly #countings = new LRUCache<string, Counting>(entriesUpTo(COUNTINGS_MAX));
  #unansweredSinceMs: number | undefined;

  constructor(deps: SharedMessagesDeps) {
    this.#deps = deps;
  }

  /** Messages before this one, without one that is counted and did not go out. */
  sent(subject: string, times: ReadonlyMap<string, number>, nowMs: number): TrafficFacts {
    const unsent = this.#countings.peek(subject)?.item ?? "";
    const out = times.has(unsent) ? new Map([...times].filter(([item]) => item !== unsent)) : times;
    return { sent_10m: within(out, nowMs - WINDOWS["10m"]), sent_day: out.size };
  }

  /** Undefined when the message may go out. `isStillRight` is asked with what was sent before, one mailbox at a time. */
  async count(
    message: Sighting,
    timeoutMs: number,
    isStillRight: IsStillRight,
  ): Promise<Held | undefined> {
    const { subject, last_ms: nowMs } = message;
    const { clock, failed, known } = this.#deps;
    const endMs = clock.monotonicMs() + timeoutMs;
    for (;;) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) return this.#late(message, isStillRight);
      const counting = this.#counting(message, endMs, isStillRight);
      let counted: Counted | undefined;
      try {
        counted = await inTime(counting.done, { timeoutMs: leftMs, late: undefined, clock });
      } catch (fault) {
        if (isPassing(fault)) continue;
        failed(fault);
        return this.#alone(message, isStillRight);
      }
      if (counted === undefined) continue;
      const isThere = counted.isAdded && this.#countings.peek(subject) === counting;
      if ((isThere || !counted.isAdded) && !isStillRight(counted.sent))
        return { sent: counted.sent };
      if (isThere) {
        this.#countings.delete(subject);
        known(subject).see("message", counting.item, nowMs);
        // What was counted before it goes out counts from now on.
        if (counting.atMs < nowMs) this.#deps.note({ ...message, item: counting.item });
        return undefined;
      }
      const sent = this.sent(subject, known(subject).current("message", nowMs), nowMs);
      if (!isStillRight(sent)) return { sent };
    }
  }

  #counting(message: Sighting, endMs: number, isStillRight: IsStillRight): Counting {
    const { subject, last_ms: atMs } = message;
    const under = this.#countings.get(subject);
    if (under !== undefined && under.atMs > atMs - WINDOWS["10m"]) return under;
    const item = this.#deps.item();
    const done = this.#add({ ...message, item }, endMs, isStillRight);
    const counting = { item, atMs, done };
    this.#countings.set(subject, counting);
    const forget = (): void => {
      if (this.#countings.peek(subject) === counting) this.#countings.delete(subject);
    };
    done.then(({ isAdded }) => isAdded || forget(), forget);
    return counting;
  }

  /** Whoever waits too long for a lock or a session tries again. */
  async #add(row: Sighting, endMs: number, isStillRight: IsStillRight): Promise<Counted> {
    const { store, clock } = this.#deps;
    let sent: TrafficFacts = {};
    const isRight: Parameters<TrafficStore["addIf"]>[1] = (rows) => {
      sent = this.#sentOfAll(row, rows);
      return isStillRight(sent);
    };
    for (;;) {
      try {
        this.#unansweredSinceMs ??= clock.monotonicMs();
        const isAdded = await store.addIf(row, isRight);
        this.#unansweredSinceMs = undefined;
        return { isAdded, sent };
      } catch (fault) {
        if (!isPassing(fault) || clock.monotonicMs() >= endMs) throw fault;
      }
    }
  }

  #sentOfAll({ subject, item: own, last_ms: nowMs }: Sighting, rows: readonly TrafficRow[]) {
    const known = this.#deps.known(subject);
    const all = new Map<string, number>();
    for (const { kind, item, last_ms: atMs } of [...rows, ...this.#deps.unwritten(subject)]) {
      if (kind !== "message" || atMs <= nowMs - KINDS.message.countedMs || item === own) continue;
      all.set(item, atMs);
      known.see(kind, item, atMs);
    }
    return { sent_10m: within(all, nowMs - WINDOWS["10m"]), sent_day: all.size };
  }

  #late(message: Sighting, isStillRight: IsStillRight): Held | undefined {
    const sinceMs = this.#unansweredSinceMs ?? Infinity;
    if (this.#deps.clock.monotonicMs() - sinceMs >= AWAY_AFTER_MS)
      return this.#alone(message, isStillRight);
    return isStillRight(LATE.sent) ? this.#uncounted(message) : LATE;
  }

  /** The store is away: a share of what policies allow goes out. */
  #alone(message: Sighting, isStillRight: IsStillRight): Held | undefined {
    const { subject, last_ms: nowMs } = message;
    const times = this.#deps.known(subject).current("message", nowMs);
    const { sent_10m = 0, sent_day = 0 } = this.sent(subject, times, nowMs);
    const sent = { sent_10m: sent_10m * SERVERS_AWAY, sent_day: sent_day * SERVERS_AWAY };
    return isStillRight(sent) ? this.#uncounted(message) : { sent };
  }

  #uncounted(message: Sighting): undefined {
    const item = this.#deps.item();
    this.#deps.known(message.subject).see("message", item, message.last_ms);
    this.#deps.note({ ...message, item });
  }
}

type TrafficRow = Parameters<Parameters<TrafficStore["addIf"]>[1]>[0][number];

const isPassing = (fault: unknown): boolean => isContended(fault) || isCrowded(fault);
