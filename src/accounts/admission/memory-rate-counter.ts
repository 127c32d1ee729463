import type { OwnerKey } from "../../base/owner.ts";
import { RATE_WINDOW_MS, type RateCounter, type RateTaking } from "./rate-counter.ts";
import { Generations } from "../../base/generations.ts";

interface Window {
  openedAtMs: number;
  used: number;
}

/** Answers at once. */
export interface MemoryRateCounter extends RateCounter {
  take(owner: OwnerKey, limit: number, steadyMs: number): RateTaking;
  spend(owner: OwnerKey, window: number, count: number): void;
  giveBack(owner: OwnerKey, window: number): void;
}

/** Windows of one generation: an owner loses an open window only if it is silent while this many others come. */
const WINDOWS_MAX = 100_000;

/** Rate windows in this process; a restart opens new ones. See docs/decisions/0004-counters.md. */
export function memoryRateCounter(windowsMax: number = WINDOWS_MAX): MemoryRateCounter {
  const windows = new Generations<Window>();
  let turnedAtMs = 0;

  const open = (owner: string, nowMs: number): Window => {
    // What is old was opened before the last turn: a whole window later it is over.
    if (nowMs - turnedAtMs >= RATE_WINDOW_MS || windows.youngSize >= windowsMax) {
      windows.turn();
      turnedAtMs = nowMs;
    }
    const window = { openedAtMs: nowMs, used: 0 };
    windows.set(owner, window);
    return window;
  };

  return {
    take(owner, limit, steadyMs) {
      const nowMs = Math.floor(steadyMs);
      const known = windows.get(owner);
      const isOpen = known !== undefined && nowMs - known.openedAtMs < RATE_WINDOW_MS;
      const window = isOpen ? known : open(owner, nowMs);
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
