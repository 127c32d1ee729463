import { strict as assert } from "node:assert";
import { test } from "node:test";
import { askedFeatures, readCheckPath } from "./check.ts";

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
  ["an unknown suffix behind an address is ignored", ["a@x.co", "dkmi"], "a@x.co", [], false],
  [
    "known suffixes beside it count",
    ["a@x.co", "spf", "what", "dkim"],
    "a@x.co",
    ["spf", "dkim"],
    false,
  ],
  ["an encoded slash joins features", ["a@x.co", "spf/dkim"], "a@x.co", ["spf", "dkim"], false],
  ["an encoded comma joins features", ["a@x.co", "SPF,dkim"], "a@x.co", ["spf", "dkim"], false],
  ["one unknown piece makes the segment unknown", ["a@x.co", "spf,dkmi"], "a@x.co", [], false],
  ["a slash in the local part stays", ["a", "b@x.co", "what"], "a/b@x.co", [], false],
  ["a second address is an unknown suffix", ["a@x.co", "b@y.co"], "a@x.co", [], false],
  ["an empty segment is not a suffix", ["a@x", "spf", ""], "a@x/spf/", [], false],
  ["mass makes it a bulk request", ["a@x,b@y", "mass"], "a@x,b@y", [], true],
  ["bulk means mass", ["a@x", "BULK"], "a@x", [], true],
  ["mass stands beside features in any order", ["a@x", "mass", "spf"], "a@x", ["spf"], true],
  ["the first segment is always the entry", ["mass", "mass"], "mass", [], true],
] as const;

for (const [name, path, entry, features, bulk] of paths) {
  test(name, () => {
    assert.deepEqual(readCheckPath(path, "address"), { entry, features, bulk });
  });
}

const domains = [
  ["an unknown suffix of a domain is ignored", ["x.example", "dkmi"], "x.example", []],
  ["an address is not a domain, so nothing is cut", ["a@x.example", "y"], "a@x.example/y", []],
  ["a URL keeps its slashes", ["https:", "", "x.example"], "https://x.example", []],
] as const;

for (const [name, path, entry, features] of domains) {
  test(name, () => {
    assert.deepEqual(readCheckPath(path, "domain"), { entry, features, bulk: false });
  });
}

test("a path of 30,000 segments is read in linear time", () => {
  const path = ["a@x.example", ...Array.from({ length: 30_000 }, () => "b")];
  assert.equal(readCheckPath(path, "address").entry, "a@x.example");
});

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
