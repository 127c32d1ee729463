import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ForgetReport } from "../../gate/forget-person.ts";
import { opening } from "../command.ts";
import { program, runProgram } from "../program.ts";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { forgetCommand } from "./forget.ts";

const REPORT = { found: { traffic: 2, rules: 1 }, account_id: null, elsewhere: ["back-ups"] };
const NOTHING = { ...REPORT, found: { traffic: 0, rules: 0 } };

const CASES: readonly (readonly [
  name: string,
  words: readonly string[],
  report: ForgetReport,
  says: boolean,
  want: readonly [code: number, asked: number, deletions: number],
])[] = [
  ["a person who says yes", [], REPORT, true, [0, 1, 1]],
  ["a person who says no", [], REPORT, false, [1, 1, 0]],
  ["--yes does not ask", ["--yes", "--json"], REPORT, false, [0, 0, 1]],
  ["no terminal, and no --yes", ["script"], REPORT, true, [2, 0, 0]],
  ["no terminal, with --yes", ["script", "--yes"], REPORT, true, [0, 0, 1]],
  ["nothing is kept", [], NOTHING, false, [1, 0, 1]],
  ["an account is named", ["--yes"], { ...NOTHING, account_id: "a1" }, false, [0, 0, 1]],
];

for (const [name, words, report, says, want] of CASES) {
  test(`forget: ${name}`, async () => {
    let [asked, deletions] = [0, 0];
    const confirm = () => {
      asked += 1;
      return Promise.resolve(says);
    };
    const terminal = recordingTerminal({ interactive: !words.includes("script"), confirm });
    const look = () => Promise.resolve(report);
    const forget = () => {
      deletions += 1;
      return look();
    };
    const command = forgetCommand(terminal, opening({ look, forget }));
    const root = program("1", terminal, [command]);
    const code = await runProgram(
      root,
      ["forget", "jo@x.example", ...words.filter((word) => word !== "script")],
      terminal,
    );
    assert.deepEqual([code, asked, deletions], want);
  });
}
