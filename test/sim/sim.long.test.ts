import "./one-thread.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { LOADS } from "./faults.ts";
import { run, type RunOptions } from "./run.ts";

/** Other seeds each time; a name of a test says which. */
const FRESH = Math.floor(Math.random() * 1_000_000);

/** 300 days at least. */
const RUNS: readonly RunOptions[] = [
  ...[0, 1, 2].map((more) => ({ seed: FRESH + more, days: 2 })),
  { seed: 8, days: 30 },
  { seed: 5, days: 120, load: LOADS.light },
  { seed: 6, days: 150, load: LOADS.light },
];

for (const options of RUNS) {
  const { seed, days } = options;
  const name = `${String(days)} days of seed ${String(seed)}`;
  test(`${name} keep every promise`, async (t) => {
    t.diagnostic(`npm run sim -- --seed ${String(seed)} --days ${String(days)}`);
    const outcome = await run(options);
    assert.deepEqual([outcome.violations, outcome.days], [[], days]);
  });
}
