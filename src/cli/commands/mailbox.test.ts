import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { temporaryFolder } from "../../../test/process/temporary-folder.ts";
import { systemFiles } from "../../base/files.ts";
import { readListFile } from "../../bulk/files/list-file.ts";
import { opening } from "../command.ts";
import { program, runProgram } from "../program.ts";
import { type CliMailboxes, mailboxCommand } from "./mailbox.ts";

const opened: CliMailboxes = {
  accounts: {
    find: (name) => Promise.resolve(name === "a1" ? ({ id: "a1" } as never) : undefined),
  },
  files: systemFiles,
  readPages: readListFile,
  findMailbox: (account, email) => ({
    email,
    id: email.includes("@") ? `m_${account}_${email}` : null,
    former: [],
  }),
};

for (const [name, words, file, code, want] of [
  [
    "a table keeps its columns",
    [],
    'id;email\n1;jo@x.example\n2;\n3;none\n4;"Jo <an@x.example>"\n',
    0,
    "id;email;mailbox_id;mailbox_rules\r\n1;jo@x.example;m_a1_jo@x.example;3\r\n2;;;\r\n3;none;;\r\n" +
      "4;Jo <an@x.example>;m_a1_an@x.example;3\r\n",
  ],
  [
    "the column is named",
    ["--column", "other"],
    "email,other\na@x.example,b@x.example\n",
    0,
    "email,other,mailbox_id,mailbox_rules\r\na@x.example,b@x.example,m_a1_b@x.example,3\r\n",
  ],
  ["no such column", ["--column", "third"], "email,other\na@x.example,b@x.example\n", 3, ""],
] as const) {
  test(`mailbox ids: ${name}`, async () => {
    const folder = temporaryFolder();
    const [input, out] = [join(folder, "users.csv"), join(folder, "ids.csv")];
    writeFileSync(input, file);
    const terminal = recordingTerminal({});
    const root = program("1", terminal, [mailboxCommand(terminal, opening(opened))]);
    const line = ["mailbox", "ids", "a1", input, ...words, "--out", out];
    assert.equal(await runProgram(root, line, terminal), code, terminal.complained());
    assert.equal(readFileSync(out, "utf8"), want);
    const again = ["mailbox", "ids", "a1", input, "--out", input];
    assert.equal(await runProgram(root, again, terminal), 2, "it does not overwrite its input");
  });
}

test("mailbox ids writes CSV, and takes no --json", async () => {
  const terminal = recordingTerminal({});
  const root = program("1", terminal, [mailboxCommand(terminal, opening(opened))]);
  const line = ["mailbox", "ids", "a1", "users.csv", "--json"];
  assert.equal(await runProgram(root, line, terminal), 2);
  assert.match(terminal.complained(), /unknown option '--json'/);
});
