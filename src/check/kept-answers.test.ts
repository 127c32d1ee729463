import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type KeptResult, KeptResults } from "./kept-answers.ts";

const resultOf = (json: string): KeptResult => ({ json, unavailable: [] });

test("an answer is kept until it expires, and not a moment longer", () => {
  const cache = new KeptResults(100_000);
  const body = resultOf("body");
  cache.keep("a", body, 1_000);
  assert.equal(cache.read("a", 999), body);
  assert.equal(cache.read("a", 1_000), undefined);
  assert.equal(
    cache.read("a", 0),
    undefined,
    "what has expired is gone, whatever the clock says next",
  );
});

test("the least recently used answers make room", () => {
  const cache = new KeptResults(1_000);
  const body = resultOf("x".repeat(300));
  cache.keep("a", body, Infinity);
  cache.keep("b", body, Infinity);
  cache.read("a", 0);
  cache.keep("c", body, Infinity);
  assert.equal(cache.read("b", 0), undefined);
  assert.equal(cache.read("c", 0), body);
});

test("an answer larger than the whole cache is not kept and throws nothing", () => {
  const cache = new KeptResults(1_000);
  cache.keep("a", resultOf("x".repeat(2_000)), Infinity);
  assert.equal(cache.read("a", 0), undefined);
});
