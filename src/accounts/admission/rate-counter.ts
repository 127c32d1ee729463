import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken } from "./usage.ts";

export interface RateTaking {
  /** False: the window is spent, and nothing was counted. */
  readonly isGranted: boolean;
  readonly remaining: number;
  /** Milliseconds until the window closes; more than 0. */
  readonly closesInMs: number;
  /** Which window counted it, for `giveBack`; means nothing else. */
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

interface RateWindow {
  openedAtMs: number;
  used: number;
}

interface MemoryRateCounter extends RateCounter {
  take(owner: OwnerKey, limit: number, steadyMs: number): RateTaking;
  spend(owner: OwnerKey, window: number, count: number): void;
  giveBack(owner: OwnerKey, window: number): void;
}

/** An owner loses an open window only if it is silent while this many others come. */
const WINDOWS_MAX = 100_000;

/** Rate windows in this process; a restart opens new ones. See docs/decisions/0004-counters.md. */
export function memoryRateCounter(windowsMax: number = WINDOWS_MAX): MemoryRateCounter {
  const windows = new LRUCache<OwnerKey, RateWindow>({ max: windowsMax });
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

const SPENT_MAX = 50_000;

/** Owners that are over their rate are refused without a question until their window closes. */
export class SpentWindows {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #windows = new Map<OwnerKey, { readonly limit: number; readonly untilMs: number }>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  find(owner: OwnerKey, rate: number | null): RateTaking | undefined {
    const known = this.#windows.get(owner);
    if (known === undefined || rate === null || rate > known.limit) return undefined;
    const closesInMs = known.untilMs - this.#clock.monotonicMs();
    if (closesInMs > 0) return { isGranted: false, remaining: 0, closesInMs, window: 0 };
    this.#windows.delete(owner);
    return undefined;
  }

  note(owner: OwnerKey, limit: number, { closesInMs }: RateTaking): void {
    if (this.#windows.size >= SPENT_MAX) this.#windows.clear();
    this.#windows.set(owner, { limit, untilMs: this.#clock.monotonicMs() + closesInMs });
  }

  forget(owner: OwnerKey): void {
    this.#windows.delete(owner);
  }
}

interface RequestLimits extends QuotaLimits {
  /** Requests in a window; null: no limit, and then nothing is counted. */
  readonly ratePerMinute: number | null;
}

export interface RequestTaking {
  readonly rate?: RateTaking;
  /** Absent if the rate refused or the counter did not answer: call `QuotaCounter.take` then. */
  readonly unit?: QuotaTaken | QuotaSpent;
}

/** Rate and quota of a check in one step over a network; `RateCounter` and `QuotaCounter` give back what it took. */
export interface RequestCounter {
  take(owner: OwnerKey, limits: RequestLimits, nowMs: number): Promise<RequestTaking>;
}
