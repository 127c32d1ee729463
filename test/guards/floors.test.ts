import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { floorViolations } from "./floors.ts";
import { fine, plants } from "./plants.ts";

const root = new URL("../../../", import.meta.url);

function sources(): Map<string, string> {
  const names = readdirSync(new URL("src/", root), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."));
  return new Map(
    files.map((name) => [`src/${name}`, readFileSync(new URL(`src/${name}`, root), "utf8")]),
  );
}

test("no file imports from a floor above it, a neighbour or a package not allowed on its floor", () => {
  const all = sources();
  assert.ok(all.size > 20);
  assert.deepEqual(floorViolations(all), []);
});

for (const [name, ...files] of plants) {
  test(`a planted import is refused: ${name}`, () => {
    assert.notDeepEqual(floorViolations(pairs(files)), []);
  });
}

for (const [name, ...files] of fine) {
  test(`an import downwards is fine: ${name}`, () => {
    assert.deepEqual(floorViolations(pairs(files)), []);
  });
}

function pairs(list: readonly string[]): Map<string, string> {
  const made = new Map<string, string>();
  for (let at = 0; at + 1 < list.length; at += 2) made.set(list[at] ?? "", list[at + 1] ?? "");
  return made;
}
