import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type LiteralKnowledge, literalDatasets } from "../../test/lists/literal-datasets.ts";
import { makePublishedList, type PublishedSource } from "./published-list.ts";

const KNOWN: LiteralKnowledge = {
  curated: ["b.example", "allowed.example", "both.example"],
  first: ["both.example", "first.example"],
  second: ["secret.example", "both.example"],
  weak: ["weak.example", "b.example"],
  knownGood: ["b.example.good.example"],
  domains: { "allowed.example": "allow", "denied.example": "deny" },
  feedsOff: ["second"],
};

function source(known: LiteralKnowledge): PublishedSource {
  const { curated = [], first = [], second = [], weak = [] } = known;
  return {
    datasets: {
      ...literalDatasets(known),
      history: {
        sinceMs: (name, bit) =>
          name === "both.example" ? Date.UTC(2026, 10, 20 - bit, 9) : undefined,
      },
    },
    names: () => [...new Set([...curated, ...first, ...second, ...weak, "denied.example"])],
    licenceOf: (id) =>
      id === "second"
        ? undefined
        : { spdx: id === "curated" ? "CC0-1.0" : "MIT", copyright: `(c) ${id}`, url: "u" },
    leftOut: ["second"],
    texts: { MIT: "permission", "CC0-1.0": "waived", Other: "unused" },
  };
}

const textOf = (gzip: Uint8Array): string => gunzipSync(gzip).toString();

test("the published list has what feeds with a licence show, and neither deny nor allow rules", async () => {
  const { txt, json } = await makePublishedList(source(KNOWN));
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
  assert.deepEqual(parsed["licences"], { MIT: "permission", "CC0-1.0": "waived" });
  assert.deepEqual([parsed["left_out"], parsed["count"]], [["second"], 2]);
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
  const first = await makePublishedList(source(KNOWN));
  const again = await makePublishedList(source(KNOWN));
  const other = await makePublishedList(source({ ...KNOWN, curated: [] }));
  for (const form of ["txt", "json"] as const) {
    assert.equal(first[form].etag, again[form].etag);
    assert.notEqual(first[form].etag, other[form].etag);
    assert.match(first[form].etag, /^W\/"[0-9a-f]{32}"$/);
  }
});
