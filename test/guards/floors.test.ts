import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readDocument, sourcePaths } from "./docs-tables.ts";
import { floorViolations } from "./floors.ts";

function sources(): Map<string, string> {
  const files = sourcePaths().filter((path) => /\.tsx?$/.test(path) && !path.includes(".test."));
  return new Map(files.map((path) => [path, readDocument(path)]));
}

test("no file imports from a floor above it, a neighbour or a package not allowed on its floor", () => {
  const all = sources();
  assert.ok(all.size > 20);
  assert.deepEqual(floorViolations(all), []);
});

/** Files that must not be there, one a line. */
const REFUSED = `
src/core/planted.ts export { open } from "../store/database.ts";
src/core/planted.ts import { lookup } from "node:dns"; export const x = lookup;
src/core/checks/planted.ts import type { Clock } from "../../base/clock.ts"; export type X = Clock;
src/core/planted.ts export type X = typeof import("../dns/resolver.ts");
src/lists/planted.ts export { checkOne } from "../check/check-one.ts";
src/http/planted.ts export { run } from "../cli/program.ts";
src/bulk/planted.ts export * from "../core/checks/spf.test.ts";
src/check/planted.ts export { createValidator } from "../../packages/light/src/core.ts";
src/cli/planted.ts export { openValidator } from "../../packages/light/src/node.ts";
packages/mcp/src/planted.ts export { checkCommand } from "../../../src/cli/commands/check.ts";
packages/mcp/src/planted.ts export type { Route } from "../../../src/http/route.ts";
packages/mcp/src/planted.ts export { openDns } from "../../../src/main/checker.ts";
packages/widget/planted.ts export { open } from "../../src/store/database.ts";
`;

/** Imports that must be allowed. */
const FINE = `
src/main/planted.ts export { open } from "../store/database.ts"; export { run } from "../cli/program.ts";
src/gate/planted.ts export { checkOne } from "../check/check-one.ts"; export { every } from "../base/every.ts";
src/bulk/planted.ts export { announce } from "../webhooks/announce.ts";
src/core/planted.ts export { parse } from "tldts";
src/cli/planted.ts export { serveTools } from "../../packages/mcp/src/serve-tools.ts";
src/main/planted.ts export { openValidator } from "../../packages/light/src/node.ts";
packages/mcp/src/planted.ts export type { CliDecider } from "../../../src/cli/commands/decide.ts";
packages/light/src/planted.ts export { openDns } from "../../../src/main/checker.ts";
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
  return new Map([[file, code.join(" ")]]);
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
