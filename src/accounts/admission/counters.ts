import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../../base/entries.ts";
import { dayOf, monthStart, nextMonthStart } from "../../core/calendar.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken, UsageLedger } from "./usage.ts";
import { WriteBehind } from "../../base/write-behind.ts";

/**
 * Units of every owner in the UTC day and month. Each method is one atomic step: parallel calls at the
 * edge grant exactly what is left. Counts start from the usage ledger, so an owner that was forgotten,
 * or a restart, loses nothing that was written. Rules are checked by `test/contracts/admission/quota-counter.ts`.
 */
export interface QuotaCounter {
  /** Counts `units`, all or none. In the ledger within 250 ms, which is what a kill may lose. */
  take(
    owner: OwnerKey,
    units: number,
    limits: QuotaLimits,
    nowMs: number,
  ): Awaitable<QuotaTaken | QuotaSpent>;
  giveBack(owner: OwnerKey, units: number, day: number): Awaitable<void>;
}

export interface UnsavedUnitsDeps {
  readonly ledger: Pick<UsageLedger, "add">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "error">;
  readonly retryAfterMs?: number;
}

interface OwnerUnits {
  readonly owner: OwnerKey;
  readonly days: { readonly day: number; units: number }[];
}

/** Below the promised 250 ms, so that the write itself has time. */
const FLUSH_AFTER_MS = 150;

/** After a failure, such as a full disk, which is logged every time. */
const RETRY_AFTER_MS = 2_000;

/** Units that are counted and not yet in the ledger, written together within 250 ms. */
export class UnsavedUnits {
  readonly #waiting: WriteBehind<OwnerUnits>;

  /** `isBarred`: an owner whose units must not be written just now, because its ledger is being read. */
  constructor(
    { ledger, clock, log, retryAfterMs = RETRY_AFTER_MS }: UnsavedUnitsDeps,
    isBarred: (owner: OwnerKey) => boolean = () => false,
  ) {
    this.#waiting = new WriteBehind<OwnerUnits>({
      afterMs: FLUSH_AFTER_MS,
      retryAfterMs,
      mayWrite: (owner) => !isBarred(owner),
      batch: Infinity,
      max: Infinity, // units are never lost
      clock,
      merge: together,
      save: (all) => ledger.add(all.flatMap(deltasOf).filter(({ units }) => units !== 0)),
      failed: (fault) => log.error("quota.flush_failed", fault),
    });
  }

  add(owner: OwnerKey, units: number, day: number): void {
    this.#waiting.note(owner, { owner, days: [{ day, units }] });
  }

  waiting(owner: OwnerKey, firstDay: number, lastDay: number): number {
    let sum = 0;
    for (const { days } of this.#waiting.under(owner)) {
      for (const { day, units } of days) if (day >= firstDay && day <= lastDay) sum += units;
    }
    return sum;
  }

  settled(): Promise<void> {
    return this.#waiting.settled();
  }

  /** Resolves once what was added for the owner is written; rejects when the ledger does. */
  async written(owner: OwnerKey): Promise<void> {
    await this.settled();
    if (this.#waiting.under(owner).length > 0) await this.flush();
    else await this.settled(); // somebody else may have begun to write them meanwhile
  }

  /** Writes waiting units, except of barred owners; rejects if the ledger does, and keeps all of them waiting. */
  flush(): Promise<void> {
    return this.#waiting.flush();
  }
}

function together(older: OwnerUnits, { days }: OwnerUnits): OwnerUnits {
  for (const { day, units } of days) {
    const same = older.days.find((one) => one.day === day);
    if (same === undefined) older.days.push({ day, units });
    else same.units += units;
  }
  return older;
}

const deltasOf = ({ owner, days }: OwnerUnits) =>
  days.map(({ day, units }) => ({ owner, day, units }));

interface MemoryQuotaDeps {
  readonly ledger: Pick<UsageLedger, "add" | "unitsUsed">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "error">;
}

/** Units that are counted while a transaction is to write them; made by `reserve`, ended by `end`. */
export interface QuotaReservation {
  readonly kind: "reserved";
  readonly owner: OwnerKey;
  readonly units: number;
  readonly day: number;
}

/** One owner's units on the day it was last seen, and in that day's month. */
interface Count {
  readonly day: number;
  dayUnits: number;
  monthUnits: number;
}

interface QuotaReading {
  readonly day: number;
  done: Promise<void>;
  /** A transaction on the owner's units ended meanwhile: the reading may or may not include it. */
  isStale: boolean;
}

/** After this many stale readings in a row the last one is used, which counts too much rather than too little. */
const READINGS_MAX = 5;

/** Requests of one owner on different days, as around midnight, take the count from each other in turns. */
const ATTEMPTS_MAX = 64;

const SPENT_DAY: QuotaSpent = { kind: "spent", period: "day" };
const SPENT_MONTH: QuotaSpent = { kind: "spent", period: "month" };

/**
 * Quota counts in this process, which must be the only one that serves. A count is a cache of three things:
 * what the ledger holds, what waits to be written there, and the open reservations. So it may be forgotten at any
 * time, and it is whenever a transaction on its owner's units ends.
 * Why this is one truth: docs/decisions/0004-counters.md.
 */
export class MemoryQuotaCounter implements QuotaCounter {
  readonly #ledger: MemoryQuotaDeps["ledger"];
  readonly #unsaved: UnsavedUnits;
  readonly #counts: LRUCache<OwnerKey, Count>;
  readonly #readings = new Map<OwnerKey, QuotaReading>();
  readonly #reservations = new Set<QuotaReservation>();
  #taken: QuotaTaken = { kind: "taken", day: 0 };

  constructor(deps: MemoryQuotaDeps, countsMax: number = 50_000) {
    this.#ledger = deps.ledger;
    this.#counts = new LRUCache(entriesUpTo(countsMax));
    this.#unsaved = new UnsavedUnits(deps, (owner) => this.#readings.has(owner));
  }

  take(
    owner: OwnerKey,
    units: number,
    limits: QuotaLimits,
    nowMs: number,
  ): Awaitable<QuotaTaken | QuotaSpent> {
    const day = dayOf(nowMs);
    const count = this.#current(owner, day);
    if (count !== undefined) return this.#takeFrom(count, owner, { units, limits });
    return this.#whenRead(owner, day, (read) => this.#takeFrom(read, owner, { units, limits }));
  }

  giveBack(owner: OwnerKey, units: number, day: number): void {
    this.#unsaved.add(owner, -units, day);
    this.#counts.delete(owner);
  }

  /** Counts `units`, all or none, and leaves writing them to the ledger to the caller's transaction. */
  reserve(
    owner: OwnerKey,
    units: number,
    limits: QuotaLimits,
    nowMs: number,
  ): Promise<QuotaReservation | QuotaSpent> {
    const day = dayOf(nowMs);
    return this.#whenRead(owner, day, (count) => {
      const spent = add(count, units, limits);
      if (spent !== undefined) return spent;
      const reservation: QuotaReservation = { kind: "reserved", owner, units, day };
      this.#reservations.add(reservation);
      return reservation;
    });
  }

  /** The ledger has the units now or will never have them: in both cases the next count is right without the reservation. */
  end(reservation: QuotaReservation): void {
    if (this.#reservations.delete(reservation)) this.forget(reservation.owner);
  }

  flush(): Promise<void> {
    return this.#unsaved.flush();
  }

  forget(owner: OwnerKey): void {
    this.#counts.delete(owner);
    const reading = this.#readings.get(owner);
    if (reading !== undefined) reading.isStale = true;
  }

  #takeFrom(
    count: Count,
    owner: OwnerKey,
    { units, limits }: { readonly units: number; readonly limits: QuotaLimits },
  ): QuotaTaken | QuotaSpent {
    const spent = add(count, units, limits);
    if (spent !== undefined) return spent;
    this.#unsaved.add(owner, units, count.day);
    if (this.#taken.day !== count.day) this.#taken = { kind: "taken", day: count.day };
    return this.#taken;
  }

  #current(owner: OwnerKey, day: number): Count | undefined {
    if (this.#readings.size > 0 && this.#readings.has(owner)) return undefined;
    const count = this.#counts.get(owner);
    return count?.day === day ? count : undefined;
  }

  /** `act` runs in the very step that finds the count: one step later it may be forgotten. */
  async #whenRead<T>(owner: OwnerKey, day: number, act: (count: Count) => T): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const count = this.#current(owner, day);
      if (count !== undefined) return act(count);
      const reading = this.#readings.get(owner) ?? this.#startReading(owner, day);
      await reading.done;
      // Requests that waited for this day go before those for another day.
      if (reading.day !== day) await Promise.resolve();
    }
    throw new Error("quota: requests of one owner on too many days at once");
  }

  #startReading(owner: OwnerKey, day: number): QuotaReading {
    const reading: QuotaReading = { day, done: Promise.resolve(), isStale: false };
    this.#readings.set(owner, reading); // from here on nothing of this owner is written
    reading.done = this.#fill(owner, day, reading).finally(() => this.#readings.delete(owner));
    return reading;
  }

  async #fill(owner: OwnerKey, day: number, reading: QuotaReading): Promise<void> {
    await this.#unsaved.settled();
    for (let attempt = 1; ; attempt += 1) {
      reading.isStale = false;
      const reserved = this.#reserved(owner, day);
      const used = await this.#ledger.unitsUsed(owner, day);
      if (reading.isStale && attempt < READINGS_MAX) continue;
      const [first, last] = [monthStart(day), nextMonthStart(day) - 1];
      this.#counts.set(owner, {
        day,
        dayUnits: used.inDay + reserved.inDay + this.#unsaved.waiting(owner, day, day),
        monthUnits: used.inMonth + reserved.inMonth + this.#unsaved.waiting(owner, first, last),
      });
      return;
    }
  }

  #reserved(owner: OwnerKey, day: number): { readonly inDay: number; readonly inMonth: number } {
    const month = monthStart(day);
    let inDay = 0;
    let inMonth = 0;
    for (const reservation of this.#reservations) {
      if (reservation.owner !== owner) continue;
      if (reservation.day === day) inDay += reservation.units;
      if (monthStart(reservation.day) === month) inMonth += reservation.units;
    }
    return { inDay, inMonth };
  }
}

function add(count: Count, units: number, { daily, monthly }: QuotaLimits): QuotaSpent | undefined {
  if (monthly !== null && count.monthUnits + units > monthly) return SPENT_MONTH;
  if (daily !== null && count.dayUnits + units > daily) return SPENT_DAY;
  count.dayUnits += units;
  count.monthUnits += units;
  return undefined;
}

export interface RateTaking {
  readonly isGranted: boolean;
  readonly remaining: number;
  /** Milliseconds until the window closes; more than 0. */
  readonly closesInMs: number;
  readonly window: number;
}

/** Requests in a window of 60 s that opens with the first. Rules: `test/contracts/admission/rate-counter.ts`. */
export interface RateCounter {
  /** `limit` may differ from call to call. `steadyMs` never steps back, as the calendar may. */
  take(owner: OwnerKey, limit: number, steadyMs: number): Awaitable<RateTaking>;
  /** Counts `count` more requests in the window that counted one; nothing when that window is over. */
  spend(owner: OwnerKey, window: number, count: number): Awaitable<void>;
  giveBack(owner: OwnerKey, window: number): Awaitable<void>;
}

export const RATE_WINDOW_MS = 60_000;

interface MemoryRateCounter extends RateCounter {
  take(owner: OwnerKey, limit: number, steadyMs: number): RateTaking;
  spend(owner: OwnerKey, window: number, count: number): void;
  giveBack(owner: OwnerKey, window: number): void;
}

/** An owner loses an open window only if it is silent while this many others come. */
const WINDOWS_MAX = 100_000;

/** Rate windows in this process; a restart opens new ones. See docs/decisions/0004-counters.md. */
export function memoryRateCounter(windowsMax: number = WINDOWS_MAX): MemoryRateCounter {
  const windows = new LRUCache<OwnerKey, { openedAtMs: number; used: number }>(
    entriesUpTo(windowsMax),
  );
  return {
    take(owner, limit, steadyMs) {
      const nowMs = Math.floor(steadyMs);
      let window = windows.get(owner);
      if (window === undefined || nowMs - window.openedAtMs >= RATE_WINDOW_MS) {
        window = { openedAtMs: nowMs, used: 0 };
        windows.set(owner, window);
      }
      const isGranted = window.used < limit;
      if (isGranted) window.used += 1;
      return {
        isGranted,
        remaining: Math.max(0, limit - window.used),
        closesInMs: window.openedAtMs + RATE_WINDOW_MS - nowMs,
        window: window.openedAtMs,
      };
    },
    spend(owner, window, count) {
      const known = windows.get(owner);
      if (known?.openedAtMs === window) known.used += count;
    },
    giveBack(owner, window) {
      const known = windows.get(owner);
      if (known?.openedAtMs === window && known.used > 0) known.used -= 1;
    },
  };
}

interface RequestLimits extends QuotaLimits {
  /** Requests in a window; null: no limit, and then nothing is counted. */
  readonly ratePerMinute: number | null;
}

export interface RequestTaking {
  readonly rate: RateTaking | undefined;
  /** Undefined if the rate refused or the counter did not answer: call `QuotaCounter.take` then. */
  readonly unit: QuotaTaken | QuotaSpent | undefined;
}

/** Rate and quota of a check in one step over a network; `RateCounter` and `QuotaCounter` give back what it took. */
export interface RequestCounter {
  take(owner: OwnerKey, limits: RequestLimits, nowMs: number): Promise<RequestTaking>;
}
