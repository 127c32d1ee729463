import assert from "node:assert/strict";
import { test } from "node:test";
import { PLANTS } from "./index.ts";
import { parseAst } from "vite";
import { fits, planted } from "./plant-run.ts";

test("every plant fits the compiled program and has a name of its own", () => {
  const misfits = PLANTS.filter((plant) => !fits(plant));
  assert.deepEqual(
    misfits.map(({ name }) => name),
    [],
  );
  assert.equal(new Set(PLANTS.map(({ name }) => name)).size, PLANTS.length);
  assert.ok(PLANTS.length >= 100, String(PLANTS.length));
});

test("every plant is a program still", () => {
  for (const plant of PLANTS) assert.doesNotThrow(() => parseAst(planted(plant)), plant.name);
});
