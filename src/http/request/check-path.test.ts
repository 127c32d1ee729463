import { strict as assert } from "node:assert";
import { test } from "node:test";
import { askedFeatures, readCheckPath } from "./check-path.ts";

const paths = [
  ["no segment names no entry", [], undefined, [], false],
  ["one segment is the entry", ["a@x.example"], "a@x.example", [], false],
  ["one segment is the entry even when it is a known name", ["mass"], "mass", [], false],
  ["a feature name alone is the entry", ["spf"], "spf", [], false],
  [
    "suffixes are features in the order they stand",
    ["a@x", "spf", "dkim"],
    "a@x",
    ["spf", "dkim"],
    false,
  ],
  ["suffixes have any case", ["a@x", "SPF"], "a@x", ["spf"], false],
  [
    "features on no plan are suffixes too",
    ["a@x", "smtp", "catch_all"],
    "a@x",
    ["smtp", "catch_all"],
    false,
  ],
  ["a local part may hold a slash", ["a", "b@x"], "a/b@x", [], false],
  [
    "a known name left of an unknown one belongs to the entry",
    ["spf", "b@x", "dkim"],
    "spf/b@x",
    ["dkim"],
    false,
  ],
  [
    "an unknown last segment keeps all of them in the entry",
    ["a@x", "spf", "what"],
    "a@x/spf/what",
    [],
    false,
  ],
  ["an empty segment is no suffix", ["a@x", "spf", ""], "a@x/spf/", [], false],
  ["mass makes it a bulk request", ["a@x,b@y", "mass"], "a@x,b@y", [], true],
  ["bulk means mass", ["a@x", "BULK"], "a@x", [], true],
  ["mass stands beside features in any order", ["a@x", "mass", "spf"], "a@x", ["spf"], true],
  ["the first segment stays the entry whatever it is", ["mass", "mass"], "mass", [], true],
] as const;

for (const [name, path, entry, features, bulk] of paths) {
  test(name, () => {
    assert.deepEqual(readCheckPath(path), { entry, features, bulk });
  });
}

test("known names of path and parameter are kept once, in the order asked", () => {
  assert.deepEqual(askedFeatures(["dkim", "spf"], ["SPF", "nonsense, smtp", "dmarc"]), [
    "dkim",
    "spf",
    "smtp",
    "dmarc",
  ]);
});

test("nothing asked is nothing", () => {
  assert.deepEqual(askedFeatures([], []), []);
});
