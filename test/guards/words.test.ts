import { strict as assert } from "node:assert";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { readDocument } from "./docs-tables.ts";

const root = new URL("../../../", import.meta.url);

const WORDS_MAX = 32_000;

test(`docs/, README.md and CHANGELOG.md have at most ${String(WORDS_MAX)} words, as wc -w counts`, () => {
  const pages = readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  const counts = ["README.md", "CHANGELOG.md", ...pages].map(
    (page) => readDocument(page).match(/\S+/g)?.length ?? 0,
  );
  const words = counts.reduce((sum, count) => sum + count);
  assert.ok(words <= WORDS_MAX, `${String(words)} words: shorten what you touched`);
});
