import "./one-thread.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { LOADS } from "./faults.ts";
import { run, type RunOptions } from "./run.ts";

const EMBEDDED = { servers: 1, workers: 0 } as const;
const SCALED = { servers: 3, workers: 2 } as const;

/** 300 days at least. */
const RUNS: readonly RunOptions[] = [
  { ...EMBEDDED, seed: 8, days: 15 },
  { ...SCALED, seed: 5, days: 15 },
  { ...EMBEDDED, seed: 5, days: 120, load: LOADS.light },
  { ...SCALED, seed: 6, days: 150, load: LOADS.light },
];

for (const options of RUNS) {
  const { seed, days, servers } = options;
  const name = `${String(days)} days of seed ${String(seed)} on ${String(servers)} servers`;
  test(`${name} keep every promise`, async () => {
    const outcome = await run(options);
    assert.deepEqual([outcome.violations, outcome.days], [[], days]);
  });
}
