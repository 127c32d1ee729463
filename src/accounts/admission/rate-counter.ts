import { LRUCache } from "lru-cache";
import type { OwnerKey } from "../../base/owner.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { QuotaLimits, QuotaSpent, QuotaTaken } from "./usage.ts";

export interface RateTaking {
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

interface RequestLimits extends QuotaLimits {
  /** Requests in a window; null: no limit, and then nothing is counted. */
  readonly ratePerMinute: number | null;
}

export interface RequestTaking {
  /** Undefined without a limit. */
  readonly rate: RateTaking | undefined;
  /** Undefined if the rate refused or the counter did not answer: call `QuotaCounter.take` then. */
  readonly unit: QuotaTaken | QuotaSpent | undefined;
}

/** Rate and quota of a check in one step over a network; `RateCounter` and `QuotaCounter` give back what it took. */
export interface RequestCounter {
  take(owner: OwnerKey, limits: RequestLimits, nowMs: number): Promise<RequestTaking>;
}
