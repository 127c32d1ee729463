import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { floorViolations } from "./floors.ts";

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

/** Files that must not be there, one a line. */
const REFUSED = `
core/planted.ts export { open } from "../store/database.ts";
core/planted.ts import { lookup } from "node:dns"; export const x = lookup;
core/checks/planted.ts import type { Clock } from "../../base/clock.ts"; export type X = Clock;
core/planted.ts export type X = typeof import("../dns/resolver.ts");
lists/planted.ts export { checkOne } from "../check/check-one.ts";
http/planted.ts export { run } from "../cli/program.ts";
bulk/planted.ts export * from "../core/checks/spf.test.ts";
`;

/** Imports that must be allowed. */
const FINE = `
main/planted.ts export { open } from "../store/database.ts"; export { run } from "../cli/program.ts";
gate/planted.ts export { checkOne } from "../check/check-one.ts"; export { every } from "../base/every.ts";
bulk/planted.ts export { announce } from "../webhooks/announce.ts";
core/planted.ts export { parse } from "tldts";
`;

/** Files of the folder gate, each of which imports the next. */
const circle = (kind: string, count: number): Map<string, string> =>
  new Map(
    Array.from({ length: count }, (_, at) => [
      `src/gate/planted${String(at)}.ts`,
      `${kind} { x } from "./planted${String((at + 1) % count)}.ts"; export const y = 1;`,
    ]),
  );

const planted = (line: string): Map<string, string> => {
  const [file = "", ...code] = line.split(" ");
  return new Map([[`src/${file}`, code.join(" ")]]);
};

for (const line of REFUSED.trim().split("\n")) {
  test(`this is refused: ${line}`, () => assert.notDeepEqual(floorViolations(planted(line)), []));
}

for (const line of FINE.trim().split("\n")) {
  test(`this is fine: ${line}`, () => assert.deepEqual(floorViolations(planted(line)), []));
}

for (const [kind, count] of [
  ["import", 2],
  ["import type", 2],
  ["import", 3],
] as const) {
  test(`a circle of ${String(count)} files by "${kind}" is refused`, () => {
    assert.notDeepEqual(floorViolations(circle(kind, count)), []);
  });
}
