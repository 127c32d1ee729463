import type { Awaitable } from "../../core/mail/lookup.ts";
import type { OwnerKey } from "../../base/owner.ts";

/** What one request came to. */
export interface RateTaking {
  /** False: the window is spent, and nothing was counted. */
  readonly isGranted: boolean;
  /** Requests left in the window, this one taken off. */
  readonly remaining: number;
  /** Milliseconds until the window closes; more than 0. */
  readonly closesInMs: number;
  /** Which window counted it, for `giveBack`; means nothing else. */
  readonly window: number;
}

/**
 * Requests of an owner in a fixed window of 60 s that opens with the owner's first request.
 * Rules are checked by `test/contracts/admission/rate-counter.ts`.
 */
export interface RateCounter {
  /**
   * Counts one request. `limit` may differ from call to call: what was counted stays.
   * `steadyMs` is a clock that never steps back, so that no step of the calendar opens or bars a window.
   */
  take(owner: OwnerKey, limit: number, steadyMs: number): Awaitable<RateTaking>;
  /** Counts `count` more requests in the window that counted one; nothing when that window is over. */
  spend(owner: OwnerKey, window: number, count: number): Awaitable<void>;
  /** Takes one request off the window that counted it; nothing when that window is over. */
  giveBack(owner: OwnerKey, window: number): Awaitable<void>;
}

/** How long a window stays open. */
export const RATE_WINDOW_MS = 60_000;
