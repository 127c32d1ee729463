import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readVoice, type Reading } from "./voice.ts";

const root = new URL("../../../", import.meta.url);

/** Largest share of stumbling lines in source, docs and root pages. The aim is 0.02; lower it when the share falls. */
const LARGEST_SHARE = 0.02;

/** Pages and texts that newcomers read first: no line of them may match. */
const SPOTLESS = /^(?:README\.md|docs\/guides\/.*\.md|src\/cli\/.*)$/;

const READABLE = /\.(?:tsx?|css|md)$/;

function filesBelow(folder: string): readonly string[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .filter((name) => READABLE.test(name) && !name.includes(".test."))
    .map((name) => folder + name);
}

const files = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...filesBelow("src/"),
  ...filesBelow("docs/"),
];

function read(path: string): Reading {
  return readVoice(path, readFileSync(new URL(path, root), "utf8"));
}

test("at most the set share of lines in source, docs and root pages makes readers stumble", () => {
  const readings = files.map(read);
  const lines = readings.reduce((sum, { lines: count }) => sum + count, 0);
  const stumbles = readings.flatMap((reading) => reading.stumbles);
  assert.ok(
    stumbles.length <= lines * LARGEST_SHARE,
    `${String(stumbles.length)} of ${String(lines)} lines:\n${stumbles.slice(0, 200).join("\n")}`,
  );
});

test("no line of the README, the guides and the command line makes readers stumble", () => {
  const paths = files.filter((path) => SPOTLESS.test(path));
  assert.deepEqual(
    paths.flatMap((path) => read(path).stumbles),
    [],
  );
});

const CASES: readonly (readonly [line: string, stumbles: boolean])[] = [
  ["// The worker retries, for Redis may be down.", false],
  ["// The worker retries, for it may be down.", true],
  ["// Nobody answers.", true],
  ["// There is no rule for the entry.", false],
  ["// The answer is no.", false],
  ["// That is no address.", true],
  ["// When there is none.", false],
  ["// It is none.", true],
  ["// It is no longer than 5 s.", false],
  ["// As long as the lease holds.", false],
  ["// It holds nothing but names.", true],
  ["// Fast but its cache is cold.", false],
  ["const x = 1; // code is not read", false],
];

for (const [line, stumbles] of CASES) {
  test(`${stumbles ? "counts" : "accepts"}: ${line}`, () => {
    assert.equal(readVoice("x.ts", line).stumbles.length > 0, stumbles);
  });
}
