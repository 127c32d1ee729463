import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Spellings } from "./count-spellings.ts";

/** Name, most spellings, texts, their numbers, how many there are and which are kept. */
const cases: readonly (readonly [string, number, string, readonly number[], number, string])[] = [
  ["no text", 2, "", [], 0, ""],
  ["each text has the number of its first", 9, "a b a A b", [0, 1, 0, 2, 1], 3, "a b A"],
  ["as many as are allowed", 2, "a b b a", [0, 1, 1, 0], 2, "a b"],
  ["one more: all are counted, none is kept", 2, "a b c a d c", [0, 1, -1, -1, -1, -1], 4, ""],
  [
    "names of Object's own are texts",
    3,
    "__proto__ constructor",
    [0, 1],
    2,
    "__proto__ constructor",
  ],
];

for (const [name, max, texts, numbers, count, kept] of cases) {
  test(`spellings: ${name}`, () => {
    const spellings = new Spellings(max);
    const words = texts.split(" ").filter((text) => text !== "");
    assert.deepEqual(
      words.map((text) => spellings.add(text)),
      numbers,
    );
    assert.equal(spellings.count, count);
    assert.equal(spellings.areTooMany, numbers.includes(-1));
    assert.equal([...spellings.all()].join(" "), kept);
  });
}
