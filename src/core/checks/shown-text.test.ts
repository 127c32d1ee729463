import assert from "node:assert/strict";
import { test } from "node:test";
import { SHOWN_TEXT_MAX, shownText } from "./tag-list.ts";

const FULL = "x".repeat(SHOWN_TEXT_MAX);

const CASES: readonly [name: string, text: string, length: number][] = [
  ["an empty text stays", "", 0],
  ["a text at the limit stays", FULL, SHOWN_TEXT_MAX],
  ["one character more is cut", `${FULL}x`, SHOWN_TEXT_MAX],
  ["a character of two units is not cut in half", `${FULL.slice(1)}\u{1f600}x`, SHOWN_TEXT_MAX - 1],
  ["one that ends at the limit stays whole", `${FULL.slice(2)}\u{1f600}x`, SHOWN_TEXT_MAX],
];

for (const [name, text, length] of CASES) {
  test(`shown text: ${name}`, () => {
    const shown = shownText(text);
    assert.equal(shown.length, length);
    assert.ok(text.startsWith(shown) && !/\p{Cs}/u.test(shown));
  });
}
