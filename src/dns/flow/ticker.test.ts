import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Clock } from "../../base/clock.ts";
import { Ticker } from "../resolver.ts";

/** A clock whose timers come as late as `lateMs` says, one after the other. */
function lateClock(lateMs: readonly number[]): Clock & { fire(): void } {
  let nowMs = 0;
  let fired = 0;
  let next: { readonly atMs: number; readonly task: () => void } | undefined;
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, task) {
      next = { atMs: nowMs + delayMs, task };
      return () => undefined;
    },
    fire() {
      assert.ok(next !== undefined, "no tick is due");
      const { atMs, task } = next;
      next = undefined;
      nowMs = atMs + (lateMs[fired] ?? 0);
      fired += 1;
      task();
    },
  };
}

const cases = [
  ["ticks in time all run", [0, 0, 59], [1, 2, 3]],
  ["one that comes late is let pass, the next one runs", [0, 60, 0], [1, 1, 2]],
  ["in a process that is always late every second one runs", [500, 500, 500, 500], [0, 1, 1, 2]],
] as const;

for (const [name, lateMs, runsAfter] of cases) {
  test(name, () => {
    const clock = lateClock(lateMs);
    let runs = 0;
    const ticker = new Ticker(
      clock,
      () => (runs += 1),
      () => true,
    );
    ticker.start();
    ticker.start();
    for (const want of runsAfter) {
      clock.fire();
      assert.equal(runs, want);
    }
  });
}

test("without need no further tick is due", () => {
  const clock = lateClock([]);
  const ticker = new Ticker(
    clock,
    () => undefined,
    () => false,
  );
  ticker.start();
  clock.fire();
  assert.throws(() => clock.fire(), /no tick is due/);
});
