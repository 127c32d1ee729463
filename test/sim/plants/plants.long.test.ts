import assert from "node:assert/strict";
import { test } from "node:test";
import { PLANTS } from "./index.ts";
import { findPlant } from "./plant-run.ts";

/** Some that are found soon; SIM_PLANTS=all tries each of them for 200 days. */
const SOON = new Set([
  "a chunk is not counted off its job",
  "processed entries are counted twice",
  "a finished job keeps its slot",
  "a finished session ends at once",
]);
const isAll = process.env["SIM_PLANTS"] === "all";
const DAYS = isAll ? 200 : 20;

for (const plant of PLANTS.filter(({ name }) => isAll || SOON.has(name))) {
  test(`the simulation finds a planted fault: ${plant.name}`, () => {
    assert.notEqual(findPlant(plant, DAYS), undefined);
  });
}
