import "./one-thread.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, run } from "./run.ts";

const WORLD = { servers: 1, workers: 0 } as const;

test("two runs of one seed are the same run", async () => {
  const options = { ...WORLD, seed: 11, days: 3 };
  const [first, second] = [await run(options), await run(options)];
  assert.deepEqual(first.violations, []);
  assert.equal(first.hash, second.hash);
  assert.ok(first.requests > 20, String(first.requests));
});

test("another seed is another run, and faults come from the seed", async () => {
  const [one, other] = [21, 22].map((seed) => faultsOf({ ...WORLD, seed, days: 50 }));
  assert.notDeepEqual(one, other);
  assert.deepEqual(one, faultsOf({ ...WORLD, seed: 21, days: 50 }));
});
