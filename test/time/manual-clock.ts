import type { Clock } from "../../src/base/clock.ts";

interface Alarm {
  readonly atMs: number;
  readonly task: () => void;
}

export interface ManualClock extends Clock {
  /** Moves both clocks forward and runs due tasks in order, including tasks that these set. */
  advance(milliseconds: number): void;
  /** Time passes without a turn for the process; then all that fell due runs late, in order. */
  freeze(milliseconds: number): void;
  /** Steps the calendar alone, as an operator or NTP does. */
  stepTo(nowMs: number): void;
}

/** A clock that the test moves. Starts at 2026-11-20T12:00:00Z by default. */
export function manualClock(startMs = Date.UTC(2026, 10, 20, 12)): ManualClock {
  let wallMs = startMs;
  let steadyMs = 0;
  const alarms = new Set<Alarm>();
  const nextDue = (limitMs: number): Alarm | undefined =>
    [...alarms].filter(({ atMs }) => atMs <= limitMs).sort((a, b) => a.atMs - b.atMs)[0];
  return {
    nowMs: () => wallMs,
    monotonicMs: () => steadyMs,
    after(delayMs, task) {
      const alarm = { atMs: steadyMs + delayMs, task };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    advance(milliseconds) {
      const untilMs = steadyMs + milliseconds;
      for (let alarm = nextDue(untilMs); alarm !== undefined; alarm = nextDue(untilMs)) {
        alarms.delete(alarm);
        wallMs += alarm.atMs - steadyMs;
        steadyMs = alarm.atMs;
        alarm.task();
      }
      wallMs += untilMs - steadyMs;
      steadyMs = untilMs;
    },
    freeze(milliseconds) {
      wallMs += milliseconds;
      steadyMs += milliseconds;
      for (let alarm = nextDue(steadyMs); alarm !== undefined; alarm = nextDue(steadyMs)) {
        alarms.delete(alarm);
        alarm.task();
      }
    },
    stepTo(nowMs) {
      wallMs = nowMs;
    },
  };
}
