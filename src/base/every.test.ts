import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { every } from "./every.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function world(firstMs?: number) {
  const clock = manualClock();
  const faults: unknown[] = [];
  const rounds: { end: () => void; fail: () => void }[] = [];
  const stop = every(
    {
      ms: 1_000,
      ...(firstMs !== undefined && { firstMs }),
      clock,
      failed: (fault) => faults.push(fault),
    },
    () =>
      new Promise<void>((resolve, reject) => {
        rounds.push({ end: resolve, fail: () => reject(new Error("down")) });
      }),
  );
  return { clock, faults, rounds, stop };
}

test("the pause runs from the end of a round, and no two rounds overlap", async () => {
  const { clock, rounds } = world(0);
  clock.advance(10_000);
  await turn();
  assert.equal(rounds.length, 1);
  rounds[0]?.end();
  await turn();
  clock.advance(999);
  assert.equal(rounds.length, 1);
  clock.advance(1);
  assert.equal(rounds.length, 2);
});

test("rounds that fail go on, and an outage is told once", async () => {
  const { clock, rounds, faults } = world();
  for (const end of ["fail", "fail", "end", "fail"] as const) {
    clock.advance(1_000);
    rounds.at(-1)?.[end]();
    await turn();
  }
  assert.deepEqual([rounds.length, faults.length], [4, 2]);
});

test("a stop waits for the round that runs, and none follows", async () => {
  const { clock, rounds, stop } = world(0);
  let isOver = false;
  const stopping = stop().then(() => (isOver = true));
  await turn();
  assert.equal(isOver, false);
  rounds[0]?.end();
  await stopping;
  clock.advance(10_000);
  assert.equal(rounds.length, 1);
});
