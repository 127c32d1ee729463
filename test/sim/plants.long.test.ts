import assert from "node:assert/strict";
import { test } from "node:test";
import { findPlant } from "./plant-run.ts";
import { PLANTS } from "./plants.ts";

/** Some that are found soon; `node dist/test/sim/plant-run.js` tries all of them. */
const SOON = new Set([
  "a chunk is not counted off its job",
  "processed entries are counted twice",
  "a finished job keeps its slot",
  "a finished session ends at once",
]);
const DAYS = 20;

for (const plant of PLANTS.filter(({ name }) => SOON.has(name))) {
  test(`the simulation finds a planted fault: ${plant.name}`, () => {
    assert.notEqual(findPlant(plant, DAYS), undefined);
  });
}
