import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Refusal } from "../../base/refusals.ts";
import type { BulkFile } from "../jobs/bulk-shapes.ts";
import { readUpload, type UploadOptions } from "./read-upload.ts";

/** Slices of `size` octets. */
async function* slicesOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const octets = Buffer.from(text);
  for (let at = 0; at < octets.length; at += size) {
    yield octets.subarray(at, at + size);
    await Promise.resolve();
  }
}

const read = (text: string, options: UploadOptions, size = 65_536): Promise<BulkFile> =>
  readUpload(slicesOf(text, size), options);

const list = (entriesMax: number | null): UploadOptions => ({ name: "list.txt", entriesMax });
const table = (entriesMax: number | null): UploadOptions => ({ name: "list.csv", entriesMax });

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `u${String(at)}@b.example`);

test("a list is the same however its octets are cut", async () => {
  const text = "\ufeffä@b.example, c.example\r\n\tC.example,,ä@b.example\u00a0x.example ";
  const whole = await read(text, list(null));
  assert.deepEqual("total" in whole.split && [whole.split.total, whole.split.unique], [5, 3]);
  for (const size of [1, 2, 3, 5, 8]) assert.deepEqual(await read(text, list(null), size), whole);
});

test("a table has the entry of each row", async () => {
  const file = await read("n,mail\n1,A@b.example\n2,\n3,a@b.example\n4,c@b.example\n", table(2));
  assert.deepEqual("total" in file.split && [file.split.total, file.split.unique], [3, 2]);
  const [page] = file.table?.pages ?? [];
  assert.deepEqual(file.table?.header, ["n", "mail"]);
  assert.deepEqual([...(page?.entries ?? [])], [0, 0, 1]);
  const rows = JSON.parse(Buffer.from(page?.cells ?? []).toString()) as unknown;
  const blank = { cells: ["2", ""], count: 0 };
  const [first, , third, fourth] = ["1,A@b.example", "", "3,a@b.example", "4,c@b.example"].map(
    cellsOf,
  );
  assert.deepEqual(rows, [first, blank, third, fourth]);
});

const cellsOf = (row: string): readonly string[] => row.split(",");

/** Of 10 entries: name, file and how many entries are said to be too many. */
const tooMany: readonly (readonly [string, string, UploadOptions, number])[] = [
  ["a list of one more", names(11).join("\n"), list(10), 11],
  ["a list in two cases is counted by entries", inTwoCases(11), list(10), 11],
  ["a list of far too many is counted by spellings", inTwoCases(1_000), list(10), 2_000],
  ["a table of one more", `mail\n${names(11).join("\n")}`, table(10), 11],
  ["a table of far too many", `mail\n${names(5_000).join("\n")}\n`, table(10), 5_000],
];

function inTwoCases(count: number): string {
  return names(count)
    .map((name) => `${name} ${name.toUpperCase()}`)
    .join(" ");
}

for (const [name, text, options, count] of tooMany) {
  test(`too many entries: ${name}`, async () => {
    assert.deepEqual(await read(text, options), { split: { kind: "too_many", count } });
  });
}

const tooManyRows: readonly (readonly [string, string])[] = [
  ["repeated entries", "a@b.example\n".repeat(100_001)],
  ["blank cells", `mail,name\na@b.example,x\n${",x\n".repeat(100_000)}`],
];

for (const [name, text] of tooManyRows) {
  test(`rows are kept up to 100,000, or ten for each entry of the plan: ${name}`, async () => {
    await assert.rejects(read(text, table(10_000)), {
      message: "The file has more than 100,000 rows, repeated ones included.",
    });
    const file = await read(text, table(10_001));
    assert.equal("unique" in file.split && file.split.unique, 1);
  });
}

/** Of files with far too many entries: what else is wrong with them is refused first. */
const faulty: readonly (readonly [string, string, UploadOptions, string])[] = [
  ["octets that are no text", `${names(5_000).join("\n")}\n`, list(10), "bad_upload"],
  ["over 1,000,000 entries", "a@x.co\n".repeat(1_000_001), list(10), "upload_too_long"],
];

for (const [name, text, options, code] of faulty) {
  test(`refused before its number of entries: ${name}`, async () => {
    const broken = name.startsWith("octets") ? [Uint8Array.of(0xff, 0x81)] : [];
    const slices = async function* (): AsyncGenerator<Uint8Array> {
      yield* slicesOf(text, 65_536);
      yield* broken;
    };
    const refused = readUpload(slices(), options);
    await assert.rejects(refused, (why) => why instanceof Refusal && why.code === code);
  });
}
