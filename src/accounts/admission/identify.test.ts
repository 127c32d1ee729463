import assert from "node:assert/strict";
import { test } from "node:test";
import { presentedKey } from "./caller.ts";

const key = (text: string) => ({ kind: "key", key: text });
const NONE = { kind: "none" };
const INVALID = { kind: "invalid" };

for (const [name, apiKey, authorization, want] of [
  ["without a header there is no key", [], [], NONE],
  ["X-Api-Key is the key", ["k"], [], key("k")],
  ["Bearer is the key", [], ["Bearer k"], key("k")],
  ["the scheme has no case (RFC 9110 section 11.1)", [], ["bEARER k"], key("k")],
  ["several blanks may follow the scheme", [], ["Bearer \t  k"], key("k")],
  ["blanks around a key do not count", [" k "], [], key("k")],
  ["X-Api-Key wins over Bearer", ["k1"], ["Bearer k2"], key("k1")],
  ["an empty X-Api-Key is invalid, with any Bearer", [""], ["Bearer k"], INVALID],
  ["a blank X-Api-Key is empty", [" \t"], [], INVALID],
  ["an empty Bearer is invalid", [], ["Bearer"], INVALID],
  ["a blank Bearer is invalid", [], ["Bearer   "], INVALID],
  ["Basic is ignored", [], ["Basic dXNlcjpwYXNz"], NONE],
  ["a scheme that begins like Bearer is another scheme", [], ["BearerToken k"], NONE],
  ["an empty Authorization holds no key", [], [""], NONE],
  ["Basic beside Bearer is ignored", [], ["Basic eA==", "Bearer k"], key("k")],
  ["the same key twice is that key", ["k", "k"], [], key("k")],
  ["two different keys are invalid", ["k1", "k2"], [], INVALID],
  ["an empty key beside a real one is invalid", ["k", ""], [], INVALID],
  ["two different Bearers are invalid", [], ["Bearer k1", "Bearer k2"], INVALID],
] as const) {
  test(name, () => {
    assert.deepEqual(presentedKey({ apiKey, authorization }), want);
  });
}

test("a header of 80,000 blanks or letters is read in one pass", () => {
  const blanks = " ".repeat(80_000);
  assert.deepEqual(presentedKey({ apiKey: [], authorization: [`Bearer${blanks}`] }), INVALID);
  const long = "a".repeat(80_000);
  assert.deepEqual(presentedKey({ apiKey: [long], authorization: [] }), key(long));
});
