import { type ManualClock, manualClock } from "./manual-clock.ts";

const TURN_MS = 5;

/**
 * A clock for time limits that must expire while real sockets are open: it moves `stepMs` (default 5)
 * with every 5 ms timer of this process. On a busy machine it slows down with the process, so that
 * work that needs only some turns of the event loop is never late. `stop` ends it.
 */
export function turningClock(stepMs = TURN_MS): {
  readonly clock: ManualClock;
  readonly stop: () => void;
} {
  const clock = manualClock();
  const timer = setInterval(() => clock.advance(stepMs), TURN_MS);
  return { clock, stop: () => clearInterval(timer) };
}
