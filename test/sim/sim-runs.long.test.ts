import "./one-thread.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, LOADS } from "./faults.ts";
import { run } from "./run.ts";

test("two runs of one seed are the same run", async () => {
  const options = { load: LOADS.steady, seed: 11, days: 4 };
  const [first, second] = [await run(options), await run(options)];
  assert.deepEqual(first.violations, []);
  assert.equal(first.hash, second.hash);
  assert.ok(first.requests > 20, String(first.requests));
});

test("another seed is another run, and faults come from the seed", async () => {
  const [one, other] = [21, 22].map((seed) => faultsOf({ load: LOADS.steady, seed, days: 50 }));
  assert.notDeepEqual(one, other);
  assert.deepEqual(one, faultsOf({ load: LOADS.steady, seed: 21, days: 50 }));
});
