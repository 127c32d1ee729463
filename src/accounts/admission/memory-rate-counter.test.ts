import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryRateCounter } from "./counters.ts";

test("an open window is not forgotten while its owner comes back, however long others go on", () => {
  const counter = memoryRateCounter(10);
  counter.take("a", 1, 59_000);
  for (let other = 0; other < 58; other += 1) {
    const nowMs = 60_000 + other * 1_000;
    counter.take(`other ${String(other)}`, 1, nowMs);
    assert.equal(counter.take("a", 1, nowMs).isGranted, false);
  }
  assert.equal(counter.take("a", 1, 119_000).isGranted, true);
});

test("a flood of owners keeps memory bounded: who was silent longest is forgotten", () => {
  const counter = memoryRateCounter(10);
  for (let owner = 0; owner < 11; owner += 1) counter.take(String(owner), 1, 0);
  assert.equal(counter.take("10", 1, 0).isGranted, false);
  assert.equal(counter.take("0", 1, 0).isGranted, true);
});
