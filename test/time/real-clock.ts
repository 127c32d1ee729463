import type { Clock } from "../../src/base/clock.ts";

/** The system clock, for tests with real sockets; its timers keep the test alive. */
export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

const PATIENCE = 20;

/** Runs twenty times slower: for time limits that are not under test and that a busy machine might exceed. */
export const patientClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now() / PATIENCE,
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs * PATIENCE);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
