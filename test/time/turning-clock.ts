import { type ManualClock, manualClock } from "./manual-clock.ts";

const TURN_MS = 5;

/**
 * A clock for time limits that must run out while real sockets are open: its hands go `stepMs` (5 unless told)
 * with every 5 ms timer of this process. On a busy machine they go as much slower as the process itself, so that
 * what needs only some turns of the event loop never comes too late. `stop` ends it.
 */
export function turningClock(stepMs = TURN_MS): {
  readonly clock: ManualClock;
  readonly stop: () => void;
} {
  const clock = manualClock();
  const timer = setInterval(() => clock.advance(stepMs), TURN_MS);
  return { clock, stop: () => clearInterval(timer) };
}
