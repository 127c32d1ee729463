import "./one-thread.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FOUND } from "./found.ts";
import { run } from "./run.ts";

const SEEDS = [101, 102, 104, 106];
const DAYS = 50;

for (const seed of SEEDS) {
  test(`${String(DAYS)} days of seed ${String(seed)} keep every promise`, async () => {
    const { violations, days } = await run({ seed, days: DAYS, servers: 1, workers: 0 });
    assert.deepEqual([violations, days], [[], DAYS]);
  });
}

for (const { name, ...options } of FOUND) {
  test(`found once: ${name}`, async () => {
    assert.deepEqual((await run(options)).violations, []);
  });
}
