import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { AwakeClock } from "./clock.ts";

/** Time passes with turns for the process, every 20 ms. */
function pass(clock: ReturnType<typeof manualClock>, ms: number): void {
  for (let passedMs = 0; passedMs < ms; passedMs += 20) clock.advance(20);
}

test("a budget of 5 s does not run through a freeze of 20 s", () => {
  const clock = manualClock();
  const awake = new AwakeClock(clock);
  let isOver = false;
  const startMs = awake.monotonicMs();
  awake.after(5_000, () => (isOver = true));
  pass(clock, 2_000);
  clock.freeze(20_000);
  pass(clock, 2_400);
  assert.equal(isOver, false);
  assert.ok(awake.monotonicMs() - startMs < 5_000);
  pass(clock, 700);
  assert.equal(isOver, true);
});

test("time in which the process had turns runs, also when it was busy for 800 ms", () => {
  const clock = manualClock();
  const awake = new AwakeClock(clock);
  let isOver = false;
  awake.after(1_000, () => (isOver = true));
  pass(clock, 200);
  clock.freeze(800);
  assert.equal(isOver, true);
});

test("a process without timers has no gap", () => {
  const clock = manualClock();
  const awake = new AwakeClock(clock);
  awake.after(100, () => undefined);
  pass(clock, 1_000);
  const atMs = awake.monotonicMs();
  clock.advance(60_000);
  assert.equal(awake.monotonicMs() - atMs, 60_000);
});
