import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BUILT_LISTS_FILE, readBuiltLists, writeBuiltLists } from "./load-lists.ts";
import { packLists } from "./load-lists.ts";
import { packMailServers } from "./shared-datasets.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

const folder = temporaryFolder();
const nobody = packMailServers([]);
const packed = packLists();

test("what the build packed is what the packages hold", () => {
  assert.deepEqual(readBuiltLists(BUILT_LISTS_FILE, nobody), packed);
});

test("what mail servers taught is that of the data directory", () => {
  const learned = packMailServers([["mx.throwaway.example", "dedicated"]]);
  assert.equal(readBuiltLists(BUILT_LISTS_FILE, learned)?.shared.mailServers, learned);
});

/** Replaces a text of the file by one of the same length. */
const replaced = (bytes: Buffer, from: string, to: string): Buffer => {
  const at = bytes.indexOf(from);
  assert.ok(at > 0 && from.length === to.length);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(to), bytes.subarray(at + from.length)]);
};

const unfit: readonly (readonly [string, (whole: Buffer) => Buffer])[] = [
  ["an empty file", () => Buffer.alloc(0)],
  ["a file that says how long its head is and no more", (whole) => whole.subarray(0, 4)],
  ["a file that is cut off in its head", (whole) => whole.subarray(0, 100)],
  ["a file that is cut off in its last table", (whole) => whole.subarray(0, -1)],
  ["a file with another name in a table", (whole) => replaced(whole, "yopmail", "yopmial")],
  ["a file of other packages", (whole) => replaced(whole, '"fakefilter":"0', '"fakefilter":"9')],
  ["a file that is something else", () => Buffer.from("[1] and whatever follows here")],
];

for (const [name, spoil] of unfit) {
  test(`${name} is none`, () => {
    const path = join(folder, "lists");
    writeBuiltLists(path, packed);
    const whole = readFileSync(path);
    assert.notEqual(readBuiltLists(path, nobody), undefined);
    writeFileSync(path, spoil(whole));
    assert.equal(readBuiltLists(path, nobody), undefined);
  });
}

test("no file is none", () => {
  assert.equal(readBuiltLists(join(folder, "absent"), nobody), undefined);
});
