import "./one-thread.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, LOADS } from "./faults.ts";
import { run } from "./run.ts";

const EMBEDDED = { servers: 1, workers: 0, load: LOADS.steady } as const;
const SCALED = { servers: 3, workers: 2, load: LOADS.steady } as const;

for (const [name, world] of Object.entries({ EMBEDDED, SCALED })) {
  test(`two runs of one seed are the same run (${name.toLowerCase()})`, async () => {
    const options = { ...world, seed: 11, days: 4 };
    const [first, second] = [await run(options), await run(options)];
    assert.deepEqual(first.violations, []);
    assert.equal(first.hash, second.hash);
    assert.ok(first.requests > 20, String(first.requests));
  });
}

test("another seed is another run, and faults come from the seed", async () => {
  const [one, other] = [21, 22].map((seed) => faultsOf({ ...EMBEDDED, seed, days: 50 }));
  assert.notDeepEqual(one, other);
  assert.deepEqual(one, faultsOf({ ...EMBEDDED, seed: 21, days: 50 }));
});
