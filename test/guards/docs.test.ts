import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Command } from "commander";
import { SIGNALS } from "../../src/core/evidence/signals.ts";
import { FETCHED_SOURCES } from "../../src/lists/feed-sources.ts";
import { EXAMPLES, program } from "../../src/cli/program.ts";
import { allCommands } from "../../src/main/commands.ts";
import { NAMES } from "../../src/main/doctor/network.ts";
import { SETTINGS } from "../../src/main/settings/config.ts";
import { readDocument, tableUnder } from "./docs-tables.ts";
import { recordingTerminal } from "../process/recording-terminal.ts";

test("docs/configuration.md lists every setting with its default and meaning", () => {
  const rows = tableUnder(readDocument("docs/configuration.md"), "## Settings");
  const want = Object.values(SETTINGS).map(({ name, shownDefault, meaning }) => [
    `\`${name}\``,
    shownDefault,
    meaning,
  ]);
  assert.deepEqual(rows, want);
});

test("docs/signals.md lists every signal with its weight and meaning, most important first", () => {
  const rows = tableUnder(readDocument("docs/signals.md"), "## Signals");
  const want = Object.entries(SIGNALS).map(([name, { weight, about, means }]) => [
    `\`${name}\``,
    weight.toFixed(2),
    about,
    means,
  ]);
  assert.deepEqual(rows, want);
});

test("docs/detection.md lists every feed with its kind and least size", () => {
  const row = /^\| *`([\w-]+)` *\| *([a-z, ]+?) *\| *([\d,]+) *\|/gm;
  const rows = [...readDocument("docs/detection.md").matchAll(row)].map((found) =>
    found.slice(1).join(" | "),
  );
  const want = FETCHED_SOURCES.map(({ id, kind, floor, rotating }) =>
    [id, rotating ? `${kind}, rotates` : kind, floor.toLocaleString("en-US")].join(" | "),
  );
  assert.deepEqual(rows.toSorted(), want.toSorted());
});

test("docs/operations/troubleshooting.md has a heading for all that the doctor looks at", () => {
  const page = readDocument("docs/operations/troubleshooting.md").toLowerCase();
  for (const name of NAMES) assert.ok(page.includes(`\n## ${name.toLowerCase()}\n`), name);
});

test("every command that does something has examples, which begin as it does", () => {
  /** What has commands below it and takes no arguments only lists them. */
  const paths = (command: Command, path: string): readonly string[] => {
    const below = command.commands.flatMap((each) => paths(each, `${path} ${each.name()}`));
    return below.length > 0 && command.registeredArguments.length === 0 ? below : [path, ...below];
  };
  const known = allCommands(recordingTerminal()).flatMap((each) => paths(each, each.name()));
  assert.deepEqual(Object.keys(EXAMPLES).toSorted(), known.toSorted());
  for (const [path, examples] of Object.entries(EXAMPLES)) {
    for (const example of examples) assert.ok(example.includes(`gatepost ${path}`), example);
  }
});

test("--help groups every command by its task", () => {
  const terminal = recordingTerminal();
  const help = program("0", terminal, allCommands(terminal)).helpInformation();
  assert.match(help, /\n\nThis command:\n {2}completion <shell> [^]*\n {2}help /);
  const [, rest = ""] = help.split("\nThis command:\n");
  assert.deepEqual(rest.match(/^ {2}\w+/gm), ["  completion", "  help"]);
  assert.ok(!help.includes("Commands:"));
});

test("docs/cli.md names every command", () => {
  const rows = tableUnder(readDocument("docs/cli.md"), "## Commands");
  for (const command of allCommands(recordingTerminal())) {
    const row = rows.find(([names = ""]) =>
      names.replace("`gatepost ", "`").includes(`\`${command.name()}\``),
    );
    assert.ok(row !== undefined, command.name());
    for (const below of command.commands) {
      assert.ok(row[1]?.includes(`\`${below.name()}\``), `${command.name()} ${below.name()}`);
    }
  }
});
