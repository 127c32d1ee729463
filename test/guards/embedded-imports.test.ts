import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const STATIC = /^\s*(?:import|export)\s(?:[^"';]*?\sfrom\s)?"([^"]+)"/gm;

/** Packages that a compiled module loads directly and indirectly, without dynamic imports. */
function packagesOf(start: URL): ReadonlySet<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const open = [start];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file.href)) continue;
    seen.add(file.href);
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(STATIC)) {
      if (name.startsWith(".")) open.push(new URL(name, file));
      else packages.add(name);
    }
  }
  return packages;
}

const DRIVERS = ["pg"];
const driversOf = (module: string): readonly string[] => {
  const packages = packagesOf(new URL(`../../src/main/${module}`, import.meta.url));
  return DRIVERS.filter((driver) => packages.has(driver));
};

for (const module of ["gatepost.js", "service.js", "bulk-worker.js", "library.js"]) {
  test(`${module} starts without the drivers for several processes`, () => {
    assert.deepEqual(driversOf(module), []);
  });
}

test("the test finds drivers that a module imports", () => {
  assert.deepEqual(driversOf("../../test/services/postgres.js"), ["pg"]);
});
