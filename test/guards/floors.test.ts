import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { floorViolations, roomFaults } from "./floors.ts";
import { fine, plants } from "./plants.ts";
import { functionLines, ninetieth } from "./sizes.ts";

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

test("every file lies in a room of its floor, and a folder holds at most 20", () => {
  assert.deepEqual(roomFaults([...sources().keys()]), []);
});

test("an unknown room and a crowded folder are refused", () => {
  const crowd = Array.from({ length: 21 }, (_, at) => `src/core/name/planted${String(at)}.ts`);
  assert.deepEqual(roomFaults(["src/service/shed/planted.ts", ...crowd]), [
    "src/service/shed: service has no such room",
    "src/core/name: holds 21 files",
  ]);
});

/** Tables are data: their length says nothing of how they read. */
const isTable = (file: string): boolean => file.startsWith("src/core/tables/");

test("nine files in ten have at most 190 lines, and nine functions in ten at most 20", () => {
  const all = [...sources()].filter(([file]) => !isTable(file));
  const files = ninetieth(all.map(([, text]) => text.split("\n").length));
  const functions = ninetieth(all.flatMap(([file, text]) => functionLines(file, text)));
  assert.ok(files <= 190, `files: ${String(files)}`);
  assert.ok(functions <= 20, `functions: ${String(functions)}`);
});

function pairs(list: readonly string[]): Map<string, string> {
  const made = new Map<string, string>();
  for (let at = 0; at + 1 < list.length; at += 2) made.set(list[at] ?? "", list[at + 1] ?? "");
  return made;
}
