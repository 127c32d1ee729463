import assert from "node:assert/strict";
import { test } from "node:test";
import { Generations } from "../../base/generations.ts";
import { memoryRateCounter } from "./rate-counter.ts";

test("an open window is not forgotten while owners fit, however long others go on", () => {
  const counter = memoryRateCounter(1_000);
  counter.take("a", 1, 59_000); // just before the first turn
  for (let second = 60; second < 118; second += 1) {
    counter.take(`other ${String(second)}`, 1, second * 1_000);
    assert.equal(counter.take("a", 1, second * 1_000).isGranted, false);
  }
  assert.equal(counter.take("a", 1, 119_000).isGranted, true);
});

test("a flood of owners keeps memory bounded", () => {
  const owners = new Generations<number>();
  for (let owner = 0; owner < 10_000; owner += 1) {
    if (owners.youngSize >= 100) owners.turn();
    owners.set(String(owner), owner);
  }
  assert.ok(owners.size <= 200);
  assert.equal(owners.get("9999"), 9_999);
  assert.equal(owners.get("0"), undefined);
});

test("an entry that is read moves to the young half and is not counted twice", () => {
  const owners = new Generations<number>();
  owners.set("a", 1);
  owners.turn();
  assert.equal(owners.get("a"), 1);
  assert.equal(owners.size, 1);
  owners.turn();
  assert.equal(owners.get("a"), 1);
  owners.delete("a");
  assert.equal(owners.get("a"), undefined);
});
