import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { opening } from "../command.ts";
import { program, runProgram } from "../program.ts";
import { doctorCommand, type Finding } from "./doctor.ts";

const FINE: Finding = { name: "disk", state: "ok", says: "40 GB are free." };
const NOTE: Finding = {
  name: "public URL",
  state: "note",
  says: "It is not set.",
  toDo: "Set it.",
};
const WRONG: Finding = { name: "resolver", state: "wrong", says: "It lies.", toDo: "Use another." };

async function run(findings: readonly Finding[], ...words: string[]) {
  const terminal = recordingTerminal();
  const diagnose = () => Promise.resolve(findings);
  const root = program("1", terminal, [doctorCommand(terminal, opening({ diagnose }))]);
  const code = await runProgram(root, ["doctor", ...words], terminal);
  return { code, out: terminal.written() };
}

test("doctor: nothing wrong is exit 0, with notes in words", async () => {
  const { code, out } = await run([FINE, NOTE]);
  assert.equal(code, 0);
  assert.match(
    out,
    /^ok +disk +40 GB are free\.\nnote +public URL +It is not set\.\n +To do: Set it\.\n$/,
  );
});

test("doctor: something wrong is exit 1", async () => {
  assert.equal((await run([FINE, WRONG])).code, 1);
});

test("doctor: --json is an array of objects", async () => {
  const { code, out } = await run([FINE, WRONG], "--json");
  assert.equal(code, 1);
  assert.deepEqual(JSON.parse(out), [
    { name: "disk", state: "ok", says: "40 GB are free.", to_do: null },
    { name: "resolver", state: "wrong", says: "It lies.", to_do: "Use another." },
  ]);
});
