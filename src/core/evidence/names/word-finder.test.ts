import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { STRONG_WORDS, WEAK_WORDS, wordFinder } from "./keywords.ts";
import { effort } from "../../../../test/process/effort.ts";

const CASES: readonly [name: string, words: string, text: string, want: string][] = [
  ["a word at the start", "temp", "temperature", "temp"],
  ["a word at the end", "mail", "xmail", "mail"],
  ["no word", "temp", "tem", ""],
  ["a word that begins inside a failed one", "abcd bce", "abce", "bce"],
  ["a word inside a longer one that fails later", "minutes min", "minute-", "min"],
  ["a word at the end of another", "mail tempmail", "tempmail", "tempmail mail"],
  ["two words", "box mail", "mailbox", "mail box"],
  ["a repeated beginning", "aab", "aaab", "aab"],
  ["a character outside the alphabet parts words", "ab", "a\u00e9b", ""],
  ["a character far outside, too", "ab", "a\u{1f600}b", ""],
  ["no words at all", "", "anything", ""],
  ["an empty text", "a", "", ""],
];

for (const [name, words, text, want] of CASES) {
  test(`words: ${name}`, () => {
    const find = wordFinder(words.split(" ").filter(Boolean));
    const found = find(text, text.length).map(({ word }) => word);
    assert.equal(found.join(" "), want);
  });
}

test("words: what ends behind the limit is not found", () => {
  const find = wordFinder(["mail"]);
  assert.deepEqual(find("xmail", 4), []);
  assert.deepEqual(find("xmail", 5), [{ word: "mail", end: 5 }]);
});

test("words: agrees with plain search for 20,000 texts over few letters", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 16 });
  const words = fc.uniqueArray(
    text.filter((word) => word !== "" && word.length < 6),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(words, text, (list, haystack) => {
      const hits = wordFinder(list)(haystack, haystack.length);
      const plain = list.flatMap((word) =>
        Array.from({ length: haystack.length }, (_, at) => at)
          .filter((at) => haystack.startsWith(word, at))
          .map((at) => `${String(at + word.length)} ${word}`),
      );
      assert.deepEqual(hits.map(({ word, end }) => `${String(end)} ${word}`).sort(), plain.sort());
    }),
    { numRuns: effort(3_000, 20_000) },
  );
});

test("words: the tables hold letters, digits and hyphens only, and no word twice", () => {
  for (const words of [STRONG_WORDS, WEAK_WORDS]) {
    assert.equal(new Set(words).size, words.length);
    for (const word of words) assert.match(word, /^[a-z0-9-]+$/);
  }
});
