import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type LiteralKnowledge, literalDatasets } from "../../test/lists/literal-datasets.ts";
import { FETCHED_SOURCES, LICENCE_TEXTS } from "./feed-sources.ts";
import { makePublishedList } from "./published-list.ts";

const KNOWN: LiteralKnowledge = {
  curated: ["b.example", "allowed.example", "both.example"],
  first: ["both.example", "first.example"],
  second: ["secret.example", "both.example"],
  weak: ["weak.example", "b.example"],
  knownGood: ["b.example.good.example"],
  domains: { "allowed.example": "allow", "denied.example": "deny" },
  feedsOff: ["second"],
};

function listOf(known: LiteralKnowledge) {
  const { curated = [], first = [], second = [], weak = [] } = known;
  const datasets = {
    ...literalDatasets(known),
    history: {
      sinceMs: (name: string, bit: number) =>
        name === "both.example" ? Date.UTC(2026, 10, 20 - bit, 9) : undefined,
    },
  };
  const names = new Set([...curated, ...first, ...second, ...weak, "denied.example"]);
  return makePublishedList(
    datasets,
    [...names].map((name) => [name] as const),
    (id) =>
      id === "second"
        ? undefined
        : { spdx: id === "curated" ? "CC0-1.0" : "MIT", copyright: `(c) ${id}`, url: "u" },
  );
}

const textOf = (gzip: Uint8Array): string => gunzipSync(gzip).toString();

test("the published list has what feeds with a licence show, and neither deny nor allow rules", async () => {
  const { txt, wildcards, comma, wildcardsComma, json } = await listOf(KNOWN);
  const lines = textOf(txt.gzip).split("\n");
  assert.deepEqual(
    lines.filter((line) => !line.startsWith("#")),
    ["b.example", "both.example", ""],
  );
  assert.ok(lines.includes("# curated: CC0-1.0, (c) curated, u"));
  assert.ok(lines.includes("# first: MIT, (c) first, u"));
  assert.ok(!lines.some((line) => line.includes("second")));
  const parsed = JSON.parse(textOf(json.gzip)) as Record<string, unknown>;
  assert.deepEqual(parsed["names"], [
    { name: "b.example", first_seen: null, kinds: ["curated", "weak"], feeds: ["curated", "weak"] },
    {
      name: "both.example",
      first_seen: "2026-11-19",
      kinds: ["curated", "uncurated"],
      feeds: ["curated", "first"],
    },
  ]);
  const { MIT, "CC0-1.0": waived } = LICENCE_TEXTS;
  assert.deepEqual(parsed["licences"], { MIT, "CC0-1.0": waived });
  const leftOut = FETCHED_SOURCES.filter(({ licence }) => licence === undefined);
  assert.deepEqual(
    parsed["left_out"],
    leftOut.map(({ id }) => id),
  );
  assert.equal(parsed["count"], 2);
  assert.deepEqual(textOf(wildcards.gzip).split("\n").slice(-5), [
    "b.example",
    "*.b.example",
    "both.example",
    "*.both.example",
    "",
  ]);
  assert.equal(textOf(comma.gzip), "b.example,both.example");
  assert.equal(textOf(wildcardsComma.gzip), "b.example,*.b.example,both.example,*.both.example");
  const feeds = parsed["feeds"] as { id: string; names: number }[];
  assert.deepEqual(
    feeds.map(({ id, names }) => [id, names]),
    [
      ["curated", 2],
      ["first", 1],
      ["weak", 1],
    ],
  );
});

test("the same lists make the same tags, other lists other ones", async () => {
  const first = await listOf(KNOWN);
  const again = await listOf(KNOWN);
  const other = await listOf({ ...KNOWN, curated: [] });
  for (const form of ["txt", "json"] as const) {
    assert.equal(first[form].etag, again[form].etag);
    assert.notEqual(first[form].etag, other[form].etag);
    assert.match(first[form].etag, /^W\/"[0-9a-f]{32}"$/);
  }
});
