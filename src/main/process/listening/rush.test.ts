import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Rush } from "./rush.ts";

/** Turns in which a connection comes, each 1 ms long; what the rush says after each. */
async function turns(rush: Rush, clock: { nowMs: number }, count: number): Promise<string> {
  let said = "";
  for (let at = 0; at < count; at += 1) {
    rush.came();
    clock.nowMs += 1;
    await nextTurn();
    said += rush.isOn ? "1" : "0";
  }
  return said;
}

test("once a connection came in eight turns in a row, work waits for 4 ms and then has 4 ms", async () => {
  const clock = { nowMs: 0 };
  const rush = new Rush(() => clock.nowMs);
  assert.equal(await turns(rush, clock, 20), "00000001111000011110");
});

test("a turn without a connection ends it", async () => {
  const clock = { nowMs: 0 };
  const rush = new Rush(() => clock.nowMs);
  assert.equal(await turns(rush, clock, 8), "00000001");
  await nextTurn();
  assert.equal(rush.isOn, false);
  clock.nowMs += 100;
  assert.equal(await turns(rush, clock, 8), "00000001");
});
