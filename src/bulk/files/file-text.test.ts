import { strict as assert } from "node:assert";
import { test } from "node:test";
import { workbookOf } from "./write-workbook.ts";
import { readListFile } from "./list-file.ts";

async function entriesIn(pieces: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  const entries: string[] = [];
  for await (const { rows } of readListFile(pieces, { name: "list" }))
    entries.push(...rows.flatMap((row) => row.entries));
  return entries;
}

const textOf = async function* (text: string) {
  yield await Promise.resolve(Buffer.from(text));
};

const refused: Readonly<Record<string, readonly [text: string, reason: RegExp]>> = {
  "pandas to_string": [
    "  name          email\n0   Jo  jo@good.test\n1   An  an@good.test\n",
    /not a list that can be read/,
  ],
  "pandas, one column": [
    "          email\n0  jo@good.test\n1  an@good.test\n",
    /not a list that can be read/,
  ],
  "Excel's .prn": [
    "Name    Email         \r\nJo Ash  jo@good.test  \r\n",
    /not a list that can be read/,
  ],
  "YAML rows": ["- email: jo@good.test\n  name: Jo\n", /not a list that can be read/],
  "YAML rows of Windows": [
    "- email: jo@good.test\r\n  name: Jo\r\n",
    /not a list that can be read/,
  ],
  "YAML under a name": [
    "users:\n  - email: jo@good.test\n    name: Jo\n",
    /not a list that can be read/,
  ],
  "a YAML document": ["---\nemail: jo@good.test\n", /not a list that can be read/],
  mysqldump: [
    "-- MySQL dump 10.13\n--\n\n/*!40101 SET NAMES utf8 */;\nINSERT INTO `u` VALUES ('jo@good.test');\n",
    /not a list that can be read/,
  ],
  pg_dump: [
    "--\n-- PostgreSQL database dump\n--\n\nSET lock_timeout = 0;\n",
    /not a list that can be read/,
  ],
  "sqlite3 .dump": [
    "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n",
    /not a list that can be read/,
  ],
};

for (const [name, [text, reason]] of Object.entries(refused)) {
  test(`a text that is no list is refused in words: ${name}`, async () => {
    await assert.rejects(entriesIn(textOf(text)), reason);
  });
}

const lists: Readonly<Record<string, string>> = {
  "marks of a list": "- jo@good.test\n- an@good.test\n",
  "a rule above": "---\njo@good.test\nan@good.test\n",
  "addresses in columns": "jo@good.test   an@good.test\n",
  "names in columns": "Jo Ash    <jo@good.test>\nAn Elm    <an@good.test>\n",
  "a name of two blanks": "First  name,Email\nJo,jo@good.test\nAn,an@good.test\n",
};

for (const [name, text] of Object.entries(lists)) {
  test(`a text that looks a little like another form is read: ${name}`, async () => {
    const entries = (await entriesIn(textOf(text))).filter((entry) => entry.includes("@"));
    assert.deepEqual(entries, ["jo@good.test", "an@good.test"]);
  });
}

const beyond = (text: string): string => `,${",".repeat(16_380)}${text}`;

const wide: Readonly<Record<string, readonly [row: string, entries: readonly string[]]>> = {
  "a remark": [`an@good.test${beyond("remark")}`, ["jo@good.test", "an@good.test"]],
  "an address, its own cell blank": [beyond("an@good.test"), ["jo@good.test"]],
};

for (const [name, [row, want]] of Object.entries(wide)) {
  const rows = ["Name,Email", "Jo,jo@good.test", `An,${row}`];
  test(`a cell beyond column 16,000 does not spoil its row: ${name}`, async () => {
    assert.deepEqual(await entriesIn(textOf(rows.join("\n"))), want);
    const pages = async function* () {
      yield await Promise.resolve(rows.map((line) => line.split(",")));
    };
    assert.deepEqual(await entriesIn(workbookOf(pages())), want);
  });
}
