import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { anyCharacter } from "../../test/process/any-character.ts";
import { decodePercent, decodeSegment, isApiPath, readTarget } from "./target.ts";

const targets = [
  ["/a?b", "/a", "b"],
  ["/a", "/a", ""],
  ["/a?", "/a", ""],
  ["/a?b?c", "/a", "b?c"],
  ["//a", "//a", ""],
  ["http://host/a?b", "/a", "b"],
  ["HTTPS://user@host:1/a", "/a", ""],
  ["http://host", "/", ""],
  ["http://host?b", "/", "b"],
  ["*", "*", ""],
  ["ftp://host/a", "ftp://host/a", ""],
] as const;

for (const [raw, path, query] of targets) {
  test(`"${raw}" is the path "${path}" with the query "${query}"`, () => {
    assert.deepEqual(readTarget(raw), { path, query });
  });
}

const apiPaths = [
  ["/api", true],
  ["/api/", true],
  ["/compat", true],
  ["/compat/kickbox", true],
  ["/compatible", false],
  ["/api/email", true],
  ["/apis", false],
  ["/API", false],
  ["/", false],
  ["//api", false],
] as const;

for (const [path, want] of apiPaths) {
  test(`"${path}" ${want ? "belongs" : "does not belong"} to the API`, () => {
    assert.equal(isApiPath(path), want);
  });
}

test("what decodeURIComponent decodes is decoded the same way", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 20 }), (text) => {
      assert.equal(decodePercent(encodeURIComponent(text)), text);
    }),
    { numRuns: 5_000, seed: 2 },
  );
});

const decoded = [
  ["%zz%40", "%zz@"],
  ["%", "%"],
  ["%4", "%4"],
  ["%%40", "%@"],
  ["%e2%82", "\ufffd"],
  ["%ed%a0%80", "\ufffd\ufffd\ufffd"],
  ["\u00fc%ff", "\u00fc\ufffd"],
  ["a+b", "a+b"],
  ["%00%7f", "\0\x7f"],
] as const;

for (const [text, want] of decoded) {
  test(`${text} is read as ${JSON.stringify(want)}`, () => {
    assert.equal(decodePercent(text), want);
  });
}

const segments = [
  ["a stray percent sign is not a character", "100%@x.example", "100\ufffd@x.example"],
  ["an escape with one digit is not a character", "a%4@x.example", "a\ufffd4@x.example"],
  ["an escaped percent sign is one", "100%25@x.example", "100%@x.example"],
  ["octets that are not UTF-8 are not a character", "%ff@x.example", "\ufffd@x.example"],
  ["a plus sign stays one", "a+b%2Bc@x.example", "a+b+c@x.example"],
] as const;

for (const [name, raw, want] of segments) {
  test(`in a path, ${name}`, () => {
    assert.equal(decodeSegment(raw), want);
  });
}
