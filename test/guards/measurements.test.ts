import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readDocument } from "./docs-tables.ts";

/** Other guards compare these with the program: memory-limits.test.ts and the tables of pages. */
const HELD = new Set(["The limit", "Shared resources"]);
const FIGURE = /\d[\d,.]*(?: to [\d,.]+)?\)? ?(?:us|ms|s|[KM]i?B|\/s|a second)\b/;
const BENCH = /`(?:npm run )?(bench:[\w-]+)[^`]*`/g;

const { scripts } = JSON.parse(readDocument("package.json")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const benchesIn = (text: string): readonly string[] =>
  [...text.matchAll(BENCH)].map(([, name = ""]) => name);

/** What stands under a heading without the command that gives its figures: the section, or a row of its table. */
function withoutCommand(section: string): readonly string[] {
  if (!FIGURE.test(section)) return [];
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  const [head = "", , ...body] = rows;
  if (!head.endsWith("|`npm run`|")) return benchesIn(section).length === 0 ? [section] : [];
  const around = section.split("\n").filter((line) => !line.startsWith("|"));
  return [...body, ...around]
    .filter((line) => line.startsWith("|") || FIGURE.test(line))
    .filter((line) => benchesIn(line).length === 0);
}

test("docs/measurements.md names the command behind each figure", () => {
  const sections = readDocument("docs/measurements.md").split(/^#+ /m);
  const measured = sections.filter((section) => !HELD.has(section.split("\n", 1)[0] ?? ""));
  assert.deepEqual(measured.flatMap(withoutCommand), []);
  const named = measured.flatMap(benchesIn);
  assert.ok(named.length > 20);
  assert.deepEqual(
    named.filter((name) => scripts[name] === undefined),
    [],
  );
});

test("a figure without its command is found, in a row and beside it", () => {
  const table = "Work\n\n|Work|CPU|`npm run`|\n|---|---|---|\n|a check|28 us|`bench:http`|\n";
  assert.deepEqual(withoutCommand(table), []);
  assert.deepEqual(withoutCommand(`${table}|a decision|49 us||\n`), ["|a decision|49 us||"]);
  assert.deepEqual(withoutCommand("Memory\n\nIt takes 92 MB.\n"), ["Memory\n\nIt takes 92 MB.\n"]);
  assert.deepEqual(withoutCommand(`${table}\nA start takes 5 s.\n`), ["A start takes 5 s."]);
});
