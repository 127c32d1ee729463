import "./one-thread.ts";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { faultsOf, LOADS } from "./faults.ts";
import { run } from "./run.ts";

test("two runs of one seed are the same run", async () => {
  const options = { load: LOADS.steady, seed: 11, days: 4 };
  const [first, second] = [await run(options), await run(options)];
  assert.deepEqual(first.violations, []);
  assert.equal(first.hash, second.hash);
  assert.ok(first.requests > 20, String(first.requests));
});

for (const [name, value] of [
  ["seed", "x"],
  ["seed", "-1"],
  ["days", "-1"],
  ["days", "0"],
  ["days", "1.5"],
  ["load", "heavy"],
] as const) {
  test(`the program refuses --${name} ${value} in words`, () => {
    const program = fileURLToPath(new URL("./cli.js", import.meta.url));
    const ran = spawnSync(process.execPath, [program, `--${name}=${value}`], { encoding: "utf8" });
    assert.equal(ran.status, 2);
    assert.match(ran.stderr, new RegExp(`^--${name}: "${value}" is `));
    assert.equal(ran.stdout, "");
  });
}

test("another seed is another run, and faults come from the seed", async () => {
  const [one, other] = [21, 22].map((seed) => faultsOf({ load: LOADS.steady, seed, days: 50 }));
  assert.notDeepEqual(one, other);
  assert.deepEqual(one, faultsOf({ load: LOADS.steady, seed: 21, days: 50 }));
});
