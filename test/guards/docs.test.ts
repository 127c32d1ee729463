import { strict as assert } from "node:assert";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { program } from "../../src/cli/program.ts";
import { RESULT_FIELDS } from "../../src/core/validate/result.ts";
import { forgetPlaces } from "../../src/gate/forget-person.ts";
import { DecisionAnswer, LoggedDecision } from "../../src/gate/gate-shapes.ts";
import { commandsFor } from "../../src/main/commands.ts";
import { NAMES } from "../../src/main/doctor/found.ts";
import { unknownSettings } from "../../src/main/settings/config.ts";
import { readDocument, tableUnder } from "./docs-tables.ts";
import { recordingTerminal } from "../process/recording-terminal.ts";

test("docs/operations/troubleshooting.md has a heading for all that the doctor looks at", () => {
  const page = readDocument("docs/operations/troubleshooting.md").toLowerCase();
  for (const name of NAMES) assert.ok(page.includes(`\n## ${name.toLowerCase()}\n`), name);
});

const allCommands = (terminal = recordingTerminal()) => commandsFor([], terminal);

test("the examples of every command begin as it does", async () => {
  const visit = (command: CommandUnknownOpts, path: string): void => {
    for (const below of command.commands) visit(below, `${path} ${below.name()}`);
    if (command.commands.length > 0) return;
    let help = "";
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
    const [, examples = ""] = help.split("\nExamples:\n");
    assert.ok(examples !== "", path);
    for (const example of examples.trim().split("\n")) assert.ok(example.includes(path), example);
  };
  for (const command of await allCommands()) visit(command, `gatepost ${command.name()}`);
});

test("--help groups every command by its task", async () => {
  const terminal = recordingTerminal();
  const help = program("0", terminal, await allCommands(terminal)).helpInformation();
  const [, rest = ""] = help.split("\nThis command:\n");
  assert.deepEqual(rest.match(/^ {2}\w+/gm), ["  help"]);
  assert.ok(!help.includes("Commands:"));
});

test("docs/cli.md names every command", async () => {
  const rows = tableUnder(readDocument("docs/cli.md"), "## Commands");
  for (const command of await allCommands()) {
    const row = rows.find(([names = ""]) =>
      names.replace("`gatepost ", "`").includes(`\`${command.name()}\``),
    );
    assert.ok(row !== undefined, command.name());
    for (const below of command.commands) {
      assert.ok(row[1]?.includes(`\`${below.name()}\``), `${command.name()} ${below.name()}`);
    }
  }
});

test("docs/api.md has a row for each field of the single answer", () => {
  const rows = tableUnder(readDocument("docs/api.md"), "## Fields");
  const named = rows.map(([name = ""]) => name.replaceAll("`", ""));
  assert.deepEqual(named.sort(), Object.keys(RESULT_FIELDS).sort());
});

test("docs/decide.md names the keys of a decision in the order of the answer", () => {
  const [, list = ""] =
    /Keys come in this order: ([^\n]*)/.exec(readDocument("docs/decide.md")) ?? [];
  const keys = Object.keys(DecisionAnswer.properties);
  const words = [...list.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);
  const named = new Set(words.filter((word) => keys.includes(word)));
  assert.deepEqual([...named], keys);
});

test("docs/feedback.md shows a decision of the log with every key, in the order of the answer", () => {
  const [, example = ""] =
    /```json\n(\{\n {2}"decisions"[^`]*)```/.exec(readDocument("docs/feedback.md")) ?? [];
  const { decisions } = JSON.parse(example) as { readonly decisions: readonly object[] };
  assert.deepEqual(Object.keys(decisions[0] ?? {}), Object.keys(LoggedDecision.properties));
});

test("docs/privacy.md names every place where `gatepost forget` looks", () => {
  const rows = tableUnder(readDocument("docs/privacy.md"), "## Delete a person's data");
  const named = rows.flatMap(([places = ""]) => places.match(/\w+/g) ?? []);
  assert.deepEqual(named.sort(), [...forgetPlaces].sort());
});

test("no name of a setting that a page gives to another program brings a warning", () => {
  const pages = readdirSync(new URL("../../../docs/", import.meta.url), {
    recursive: true,
    encoding: "utf8",
  }).filter((name) => name.endsWith(".md"));
  // A code of better-auth and a rule of Rspamd.
  const others = new Set(["GATEPOST_DISPOSABLE", "GATEPOST_FROM", "GATEPOST_"]);
  const named = pages
    .flatMap((page) => readDocument(`docs/${page}`).match(/\bGATEPOST_[A-Z_]*/g) ?? [])
    .filter((name) => !others.has(name));
  assert.deepEqual(unknownSettings(Object.fromEntries(named.map((name) => [name, "x"]))), []);
});
