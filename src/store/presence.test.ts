import assert from "node:assert/strict";
import { test } from "node:test";
import { goneAmong } from "./presence.ts";

const server = (name: string, startedS: number, seenS: number) => ({
  name,
  startedMs: startedS * 1_000,
  seenMs: seenS * 1_000,
});

const cases: readonly (readonly [
  what: string,
  servers: Parameters<typeof goneAmong>[0],
  gone: readonly string[],
])[] = [
  ["none", [], []],
  ["one alone, however long ago", [server("a", 0, 10)], []],
  ["two that are there", [server("a", 0, 100), server("b", 0, 71)], []],
  ["one of two that fell silent", [server("a", 0, 100), server("b", 0, 60)], ["b 40"]],
  ["one in whose place another was started", [server("a", 0, 40), server("b", 45, 100)], []],
  [
    "two of three, one of them replaced",
    [server("a", 0, 40), server("b", 0, 45), server("c", 50, 100)],
    ["b 55"],
  ],
  [
    "one that fell silent after the newest start",
    [server("a", 0, 60), server("b", 50, 100)],
    ["a 40"],
  ],
];

for (const [what, servers, gone] of cases) {
  test(`gone servers: ${what}`, () => {
    const found = goneAmong(servers).map(({ name, seconds }) => `${name} ${String(seconds)}`);
    assert.deepEqual(found, gone);
  });
}
