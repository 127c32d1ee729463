import type { Clock } from "../src/ports/clock.ts";

/** The machine's own time, for tests that talk over real sockets; its alarms keep the test alive. */
export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
