import type { Clock } from "../src/ports/clock.ts";

/** The machine's own clock, for benchmarks and for tests that hold real sockets. */
export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
