import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Command } from "commander";
import { EXAMPLES, program } from "../../src/cli/program.ts";
import { allCommands } from "../../src/main/commands.ts";
import { NAMES } from "../../src/main/doctor/network.ts";
import { readDocument, tableUnder } from "./docs-tables.ts";
import { recordingTerminal } from "../process/recording-terminal.ts";

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
