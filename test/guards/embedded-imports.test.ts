import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const STATIC = /^\s*(?:import|export)\s(?:[^"';]*?\sfrom\s)?"([^"]+)"/gm;

/** Packages that a compiled module loads by itself and by what it imports, dynamic imports left out. */
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

const DRIVERS = ["pg", "ioredis", "bullmq"];
const driversOf = (module: string): readonly string[] => {
  const packages = packagesOf(new URL(`../../src/main/${module}`, import.meta.url));
  return DRIVERS.filter((driver) => packages.has(driver));
};

for (const module of ["gatepost.js", "server.js", "bulk-worker.js", "library.js"]) {
  test(`${module} of one process starts without the drivers of many`, () => {
    assert.deepEqual(driversOf(module), []);
  });
}

test("a module that imports drivers is seen to load them", () => {
  assert.deepEqual(driversOf("../adapters/bullmq/tickets.js"), ["ioredis", "bullmq"]);
});
