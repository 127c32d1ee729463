import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Command } from "commander";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { testWithTools } from "../../../test/process/require-tool.ts";
import { program, runProgram } from "../program.ts";
import { completionCommand } from "./completion.ts";

async function script(shell: string): Promise<string> {
  const terminal = recordingTerminal();
  const account = new Command("account")
    .addCommand(new Command("create").option("--tier <tier>"))
    .addCommand(new Command("list").option("--json"));
  const root = program("1", terminal, [account, completionCommand(terminal)]);
  assert.equal(await runProgram(root, ["completion", shell], terminal), 0);
  return terminal.written();
}

const CASES: readonly (readonly [typed: string, want: string])[] = [
  ["acc", "account"],
  ["account ", "create list --help"],
  ["account cr", "create"],
  ["account create --t", "--tier"],
  ["account create a@b.example --t", "--tier"],
];

testWithTools(["bash"], "completion: bash offers commands and options", async () => {
  const source = await script("bash");
  for (const [typed, want] of CASES) {
    const words = `gatepost ${typed}`.split(" ");
    const array = words.map((word) => `"${word}"`).join(" ");
    const run = `${source}\nCOMP_WORDS=(${array}); COMP_CWORD=${String(words.length - 1)}; _gatepost; echo "\${COMPREPLY[*]}"`;
    assert.equal(execFileSync("bash", ["-c", run], { encoding: "utf8" }).trim(), want, typed);
  }
});

test("completion: zsh and fish have a line for every command", async () => {
  assert.match(await script("zsh"), /bashcompinit[\s\S]*"account create"\) words="--tier --help"/);
  const fish = await script("fish");
  assert.match(fish, /__gatepost_at 2 "account create"' -l tier/);
  assert.match(fish, /__gatepost_at 2 "account"' -f -a create/);
});

test("completion: another shell is bad usage", async () => {
  const terminal = recordingTerminal();
  const root = program("1", terminal, [completionCommand(terminal)]);
  assert.equal(await runProgram(root, ["completion", "cmd"], terminal), 2);
});
