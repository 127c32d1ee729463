import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAddress } from "../../core/address/address.ts";
import type { ListRow } from "../../core/batch/list-table.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { SoughtAddress } from "../../core/batch/sought-address.ts";
import { withoutAddress } from "./forget-in-lists.ts";
import { readListFile } from "../files/list-file.ts";

const FOLDER = new URL("../../../../test/fixtures/lists/", import.meta.url);

async function rowsOf(file: Uint8Array, name: string): Promise<readonly ListRow[]> {
  const slices = (async function* () {
    yield await Promise.resolve(file);
  })();
  const rows: ListRow[] = [];
  for await (const page of readListFile(slices, { name })) rows.push(...page.rows);
  return rows;
}

function soughtFor(text: string): SoughtAddress {
  const parsed = parseAddress(text);
  assert.ok(parsed.ok, text);
  return new SoughtAddress(parsed.value);
}

const entriesOf = (rows: readonly ListRow[]): readonly string[] =>
  rows.flatMap(({ entries }) => entries);

const FILES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.includes("."),
);

for (const name of FILES) {
  test(`each address can be taken out of ${name}, and its other rows stay`, async () => {
    const file = readFileSync(new URL(name, FOLDER));
    const before = await rowsOf(file, name).catch((fault: unknown) => {
      assert.ok(fault instanceof TableFault);
      return [];
    });
    for (const entry of new Set(entriesOf(before).slice(0, 20))) {
      if (!parseAddress(entry).ok) continue;
      const sought = soughtFor(entry);
      const cut = await withoutAddress(file, { name }, sought);
      assert.ok(cut !== undefined, entry);
      const kept = before.filter(({ entries }) => !entries.some((each) => sought.isIn(each)));
      assert.equal(cut.gone, before.length - kept.length, entry);
      assert.equal(cut.entries, entriesOf(kept).length, entry);
      if (cut.entries === 0) continue;
      assert.deepEqual(entriesOf(await rowsOf(cut.file, name)), entriesOf(kept), entry);
      assert.equal(await withoutAddress(cut.file, { name }, sought), undefined, entry);
    }
  });
}

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");
const CASES: readonly (readonly [what: string, file: string | Buffer, want: string | undefined])[] =
  [
    [
      "a row of CSV",
      "name,email\r\nJo,jo@x.test\r\nAn,an@x.test\r\n",
      "name,email\r\nAn,an@x.test\r\n",
    ],
    ["in another case", "email\nJO@X.test\nan@x.test\n", "email\nan@x.test\n"],
    ["a row of two lines", 'n,email\n"J\no",jo@x.test\nAn,an@x.test\n', "n,email\nAn,an@x.test\n"],
    [
      "another column",
      "email,by\nan@x.test,jo@x.test\nel@x.test,-\n",
      "email,by\nan@x.test,\nel@x.test,-\n",
    ],
    [
      "one of several on a line",
      "an@x.test, jo@x.test\nel@x.test\n",
      "entry\nan@x.test\nel@x.test\n",
    ],
    ["every row of it", "jo@x.test\nan@x.test\njo@x.test", "entry\nan@x.test\n"],
    ["longer addresses stay", "email\nmojo@x.test\njo@x.test.example\nan.jo@x.test\n", undefined],
    ["a JSON array", '[{"email":"jo@x.test"},{"email":"an@x.test"}]', "email\r\nan@x.test\r\n"],
    [
      "UTF-16",
      utf16("email\tn\r\njo@x.test\t1\r\nan@x.test\t2\r\n"),
      "\ufeffemail\tn\r\nan@x.test\t2\r\n",
    ],
  ];

for (const [what, file, want] of CASES) {
  test(`an address is taken out of a file: ${what}`, async () => {
    const octets = Buffer.from(file as string);
    const cut = await withoutAddress(octets, { name: "list" }, soughtFor("jo@x.test"));
    const encoding = typeof file === "string" ? "utf8" : "utf16le";
    assert.equal(cut?.file.toString(encoding), want);
  });
}
