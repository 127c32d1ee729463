import { strict as assert } from "node:assert";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { copyOf, textOf } from "../../../test/lists/feed-copies.ts";
import { goodNames, namesOf } from "../../../test/lists/list-server.ts";
import type { SharedFile } from "../feed-files.ts";
import { packFile, unpackFile, versionOf } from "./lists-file.ts";
import { isFit } from "./name-table.ts";

const good = copyOf(goodNames("ded"));
const packed = (text: string): Promise<SharedFile> => packFile("ded.list", text, 0);

async function isTaken(file: SharedFile): Promise<boolean> {
  const text = await unpackFile(file);
  return text !== undefined && isFit(file.name, text);
}

/** Rows that somebody else put into the store. */
const bad: readonly (readonly [string, () => Promise<SharedFile>])[] = [
  [
    "a list that was polluted with a provider",
    () => packed(textOf(copyOf([...good.lines, "gmail.com"]))),
  ],
  ["half of a list", () => packed(textOf(copyOf(namesOf(3_000))))],
  ["a list without what all lists hold", () => packed(textOf(copyOf(good.lines.slice(1))))],
  ["lines that are no names", () => packed(textOf(copyOf([...good.lines, "../../etc/passwd"])))],
  ["days that are none", () => packed(textOf(copyOf([...good.lines, "a.example x y"])))],
  ["one name again and again", () => packed(textOf(copyOf(good.lines.map(() => "a.example"))))],
  ["another list's copy", () => packed(textOf(copyOf(good.lines, { id: "castle" })))],
  ["a copy that is cut off", () => packed(textOf(good).slice(0, -40))],
  [
    "a content that is not what its version says",
    async () => ({ ...(await packed(textOf(good))), version: "0".repeat(64) }),
  ],
  [
    "octets of nothing",
    async () => ({ ...(await packed("x")), content: Uint8Array.from([255, 254, 253]) }),
  ],
];

for (const [name, make] of bad) {
  test(`another machine's file is not fit: ${name}`, async () => {
    assert.equal(await isTaken(await make()), false);
  });
}

test("a content that swells without end is not unpacked, though it is what its version says", async () => {
  const text = "a".repeat(65 * 1_048_576);
  const file = { ...(await packed("x")), version: versionOf(text), content: deflateRawSync(text) };
  assert.ok(file.content.length < 100_000);
  assert.equal(await unpackFile(file), undefined);
});

const fit: readonly (readonly [string, string, string])[] = [
  ["a good copy", "ded.list", textOf(good)],
  [
    "names that came later",
    "ded.list",
    textOf(copyOf([...good.lines, "late.example 20710 20711"])),
  ],
  [
    "a rotating list that keeps more than it was sent",
    "castle.list",
    textOf(
      copyOf(
        namesOf(2_000).map((each) => `${each} 20700 20700`),
        { id: "castle", fetchedNames: 1_000 },
      ),
    ),
  ],
  ["a state", "state.json", '{"ded":{"askedAtMs":5,"why":"bad_status","detail":"503"}}'],
  ["learned servers", "learned.json", '[["mx.a.example","dedicated"],["192.0.2.1","shared"]]'],
];

for (const [name, file, text] of fit) {
  test(`another machine's file is fit: ${name}`, async () => {
    assert.equal(await isTaken(await packFile(file, text, 0)), true);
  });
}
