import { strict as assert } from "node:assert";
import { test } from "node:test";
import { finish } from "./batch.ts";
import { countSpellings } from "./count-spellings.ts";

const cases = [
  ["nothing", "", "list", 0],
  ["separators alone", ", \t\r\n,", "list", 0],
  ["pieces of a list", "a@b.example, c@d.example\na@b.example", "list", 2],
  ["cases of one entry count each", "a@b.example A@b.example", "list", 2],
  ["lines, blanks inside them", "a b\r\na c\na b\r", "lines", 2],
  [
    "400,000 different texts",
    Array.from({ length: 400_000 }, (_, n) => n).join(" "),
    "list",
    400_000,
  ],
  ["one letter each", "abcdefghijabcdefghij".split("").join(","), "list", 10],
] as const;

for (const [name, text, layout, want] of cases) {
  test(`spellings: ${name}`, () => {
    assert.equal(finish(countSpellings(text, layout)), want);
  });
}
