import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyCharacter } from "../../../test/process/any-character.ts";
import { parseTagList, TAGS_MAX } from "./tag-list.ts";

const CASES: readonly [
  name: string,
  text: string,
  tags: [string, string][],
  wellFormed: boolean,
][] = [
  [
    "a usual list",
    "v=DKIM1; p=abc",
    [
      ["v", "DKIM1"],
      ["p", "abc"],
    ],
    true,
  ],
  ["an empty text", "", [], true],
  ["a list closed by a semicolon", "a=1;", [["a", "1"]], true],
  ["and blanks behind it", "a=1; \t", [["a", "1"]], true],
  ["an empty value", "p=", [["p", ""]], true],
  ["an equals sign inside a value", "p=a=b=", [["p", "a=b="]], true],
  ["blanks inside a value stay", "n=two words", [["n", "two words"]], true],
  [
    "an empty piece",
    "a=1;;b=2",
    [
      ["a", "1"],
      ["b", "2"],
    ],
    false,
  ],
  [
    "a piece without an equals sign",
    "a=1;b;c=3",
    [
      ["a", "1"],
      ["c", "3"],
    ],
    false,
  ],
  ["a last piece without one", "a=1;b", [["a", "1"]], false],
  ["no name", "=1;b=2", [["b", "2"]], false],
  ["a name that begins with a digit", "1a=1", [], false],
  ["a blank inside a name", "a b=1", [], false],
  ["a name twice: the first stays", "a=1;a=2", [["a", "1"]], false],
  [
    "names differ by case",
    "a=1;A=2",
    [
      ["a", "1"],
      ["A", "2"],
    ],
    true,
  ],
  ["a control character in a value", "a=\u0000;b=2", [["b", "2"]], false],
  ["a letter beyond ASCII in a value", "a=é", [], false],
];

for (const [name, text, tags, wellFormed] of CASES) {
  test(`tag list: ${name} (RFC 6376 section 3.2)`, () => {
    const list = parseTagList(text);
    assert.deepEqual([[...list.tags], list.wellFormed], [tags, wellFormed]);
    assert.equal(list.first, tags[0]?.[0]);
  });
}

test("a list of 10,000 tags is read for the first hundred", () => {
  const list = parseTagList(Array.from({ length: 10_000 }, (_, index) => `t${index}=x`).join(";"));
  assert.deepEqual([list.tags.size, list.wellFormed], [TAGS_MAX, false]);
});

test("any text is read, and what is kept stood in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      for (const [name, value] of parseTagList(text).tags) {
        assert.ok(text.includes(name) && text.includes(value));
      }
    }),
  );
});
