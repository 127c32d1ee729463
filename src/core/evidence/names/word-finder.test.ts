import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { STRONG_WORDS, WEAK_WORDS, wordFinder } from "./keywords.ts";

const CASES: readonly [name: string, words: string, text: string, want: string | undefined][] = [
  ["a word at the start", "temp", "temperature", "temp"],
  ["a word at the end", "mail", "xmail", "mail"],
  ["no word", "temp", "tem", undefined],
  ["a word that begins inside a failed one", "abcd bce", "abce", "bce"],
  ["a word inside a longer one that fails later", "minutes min", "minute-", "min"],
  ["of two that end together the longer", "mail tempmail", "tempmail", "tempmail"],
  ["of two hits the one that ends first", "box mail", "mailbox", "mail"],
  ["a repeated beginning", "aab", "aaab", "aab"],
  ["a character outside the alphabet parts words", "ab", "a\u00e9b", undefined],
  ["a character far outside, too", "ab", "a\u{1f600}b", undefined],
  ["no words at all", "", "anything", undefined],
  ["an empty text", "a", "", undefined],
];

for (const [name, words, text, want] of CASES) {
  test(`words: ${name}`, () => {
    const finder = wordFinder(words.split(" ").filter(Boolean));
    assert.equal(finder.find(text, text.length)?.word, want);
  });
}

test("words: what ends behind the limit is not found", () => {
  const finder = wordFinder(["mail"]);
  assert.equal(finder.find("xmail", 4), undefined);
  assert.deepEqual(finder.find("xmail", 5), { word: "mail", end: 5 });
});

test("words: a refused hit gives way to the next, shorter ones at the same end first", () => {
  const refused: string[] = [];
  wordFinder(["ab", "b", "cab"]).find("cabab", 5, ({ word, end }) => {
    refused.push(`${word}${String(end)}`);
    return false;
  });
  assert.deepEqual(refused, ["cab3", "ab3", "b3", "ab5", "b5"]);
});

test("words: agrees with plain search for 20,000 texts over few letters", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 16 });
  const words = fc.uniqueArray(
    text.filter((word) => word !== "" && word.length < 6),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(words, text, (list, haystack) => {
      const hits: string[] = [];
      wordFinder(list).find(haystack, haystack.length, ({ word, end }) => {
        assert.equal(haystack.slice(end - word.length, end), word);
        hits.push(`${String(end)} ${word}`);
        return false;
      });
      const plain = list.flatMap((word) =>
        Array.from({ length: haystack.length }, (_, at) => at)
          .filter((at) => haystack.startsWith(word, at))
          .map((at) => `${String(at + word.length)} ${word}`),
      );
      assert.deepEqual(hits.sort(), plain.sort());
    }),
    { numRuns: 20_000 },
  );
});

test("words: the tables hold letters, digits and hyphens only, and no word twice", () => {
  for (const words of [STRONG_WORDS, WEAK_WORDS]) {
    assert.equal(new Set(words).size, words.length);
    for (const word of words) assert.match(word, /^[a-z0-9-]+$/);
  }
});
