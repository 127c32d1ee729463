import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Command } from "commander";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { testWithTools } from "../../../test/process/require-tool.ts";
import { opening } from "../command.ts";
import { program, runProgram } from "../program.ts";
import { completionCommand } from "./completion.ts";

async function script(shell: string): Promise<string> {
  const terminal = recordingTerminal();
  const account = new Command("account")
    .addCommand(new Command("create").option("--tier <tier>"))
    .addCommand(new Command("list").option("--json"));
  const root = program("1", terminal, [account, completionCommand(terminal, opening({}))]);
  assert.equal(await runProgram(root, ["completion", shell], terminal), 0);
  return terminal.written();
}

/** An environment whose home is an empty folder. */
function home(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-shell-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    PATH: process.env["PATH"],
    HOME: folder,
    ZDOTDIR: folder,
    TERM: "dumb",
    LC_ALL: "C.UTF-8",
  };
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

testWithTools(["fish"], "completion: fish offers commands and options", async () => {
  const source = await script("fish");
  for (const [typed, want] of CASES) {
    const run = `${source}\ncomplete -C 'gatepost ${typed}'`;
    const out = execFileSync("fish", ["--no-config", "-c", run], { encoding: "utf8", env: home() });
    const offered = out.split("\n").map((line) => line.split("\t")[0] ?? "");
    // Fish offers options only after a "-".
    const words = want.split(" ").filter((word) => !word.startsWith("-") || typed.includes("--"));
    assert.deepEqual(
      offered.filter((word) => word !== ""),
      words,
      typed,
    );
  }
});

/** Types into a terminal, presses the tabulator, and shows the line that zsh then has. */
const ZSH_TYPES = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source "$SCRIPT"; show() { print -r -- "<$BUFFER>"; BUFFER= }; zle -N show; bindkey "^X" show; print rea""dy'
zpty -r shell said '*ready*'
for typed in "$@"; do
  zpty -w -n shell "$typed"$'\t\x18'
  zpty -r shell said '*<gatepost*>*'
  said="\${said##*<}"
  print -r -- "\${said%%>*}"
done
zpty -d shell
`;

testWithTools(["zsh"], "completion: zsh completes commands and options", async () => {
  const env = home();
  const file = join(env["HOME"] ?? "", "completion.zsh");
  writeFileSync(file, await script("zsh"));
  const whole = CASES.filter(([, want]) => !want.includes(" "));
  const typed = whole.map(([words]) => `gatepost ${words}`);
  const options = { encoding: "utf8", env: { ...env, SCRIPT: file }, timeout: 30_000 } as const;
  const out = execFileSync("zsh", ["-f", "-c", ZSH_TYPES, "zsh", ...typed], options);
  const want = whole.map(([words, last]) => `gatepost ${words.replace(/\S*$/, last)}`);
  assert.deepEqual(out.trim().split(/ *\n/), want);
});

test("completion: another shell is bad usage", async () => {
  const terminal = recordingTerminal();
  const root = program("1", terminal, [completionCommand(terminal, opening({}))]);
  assert.equal(await runProgram(root, ["completion", "cmd"], terminal), 2);
});
