import assert from "node:assert/strict";
import { test } from "node:test";
import {
  fakefilterHosts,
  jsonStrings,
  lines,
  mailcheckerNames,
  namesOfPackage,
  readPackage,
  roleNames,
} from "./packages.ts";

test("package files: each is read in its own shape", () => {
  assert.deepEqual(jsonStrings('["a.example","b.example"]'), ["a.example", "b.example"]);
  assert.deepEqual(
    fakefilterHosts('{"domains":{"a.example":{"hosts":{"a.example":{},"x.a.example":{}}}}}'),
    ["a.example", "x.a.example"],
  );
  assert.deepEqual(
    mailcheckerNames('const a = new Set(["a.example","b.example"]);\nconst b = [];'),
    ["a.example", "b.example"],
  );
  assert.deepEqual(lines("a.example\r\n\n b.example \n"), ["a.example", "b.example"]);
  assert.deepEqual(roleNames("const A = [\n  'info',\n  'no-reply'\n];\n"), ["info", "no-reply"]);
});

const CHANGED: readonly [name: string, read: () => unknown][] = [
  ["JSON that is no array", () => jsonStrings('{"a":1}')],
  ["an array of something else", () => jsonStrings('["a",1]')],
  ["no JSON at all", () => jsonStrings("<!doctype html>")],
  ["an object without domains", () => fakefilterHosts('{"t":1}')],
  ["domains without hosts", () => fakefilterHosts('{"domains":{"a.example":{}}}')],
  ["domains that are a list", () => fakefilterHosts('{"domains":["a.example"]}')],
  ["a source without the literal", () => mailcheckerNames("module.exports = list;")],
  ["a literal without an end", () => mailcheckerNames('new Set(["a.example"')],
  ["a literal of expressions", () => mailcheckerNames("new Set([a, b])")],
];

for (const [name, read] of CHANGED) {
  test(`package files: ${name} is a fault`, () => assert.throws(read));
}

test("package files: a fault names the package and its file", () => {
  const file = { name: "fakefilter", file: "data/gone.txt", floor: 1, read: lines };
  assert.throws(
    () => readPackage(file),
    /^Error: list package fakefilter: data\/gone\.txt cannot be read/,
  );
  const shrunk = { name: "disposable-domains", file: "index.json", floor: 1e9, read: jsonStrings };
  assert.throws(
    () => readPackage(shrunk),
    /disposable-domains: index\.json holds \d+ names, fewer than/,
  );
  const absent = { name: "no-such-package", file: "a", floor: 1, read: lines };
  assert.throws(() => readPackage(absent), /^Error: list package no-such-package: /);
});

test("package files: the installed packages are as they were", () => {
  assert.equal(namesOfPackage("fakefilter").length, 4_552);
  assert.equal(namesOfPackage("ded").length, 8_883);
  assert.equal(namesOfPackage("mailchecker").length, 56_359);
  assert.equal(namesOfPackage("tompec").length, 133_604);
  assert.equal(namesOfPackage("freemail").length, 4_466);
  assert.equal(namesOfPackage("roles").length, 1_018);
});
