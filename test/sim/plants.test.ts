import assert from "node:assert/strict";
import { test } from "node:test";
import { planted, textOf } from "./plant-run.ts";
import { PLANTS } from "./plants.ts";

test("every plant fits the compiled program and has a name of its own", () => {
  const misfits = PLANTS.filter((plant) => planted(textOf(plant), plant) === undefined);
  assert.deepEqual(
    misfits.map(({ name }) => name),
    [],
  );
  assert.equal(new Set(PLANTS.map(({ name }) => name)).size, PLANTS.length);
});
