import type { Clock } from "./clock.ts";

/** The machine's own clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    // Browsers and workers have numbers for timers, which keep no process alive.
    const timer: { unref?: () => unknown } = setTimeout(task, delayMs);
    timer.unref?.();
    return () => clearTimeout(timer as NodeJS.Timeout);
  },
};
