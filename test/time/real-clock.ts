import type { Clock } from "../../src/ports/process/clock.ts";

/** The machine's own time, for tests that talk over real sockets; its alarms keep the test alive. */
export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

const PATIENCE = 20;

/** Goes twenty times as slow: for time limits that a test is not about and a busy machine must not pass. */
export const patientClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now() / PATIENCE,
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs * PATIENCE);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
