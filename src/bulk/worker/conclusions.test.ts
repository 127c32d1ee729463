import { strict as assert } from "node:assert";
import { test } from "node:test";
import { CHUNK_ENTRIES } from "../../core/batch/batch-chunk.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { Conclusions } from "./process-chunk.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface ChunkOf {
  readonly owner: OwnerKey;
  readonly name: string;
  readonly count: number;
  readonly turns?: number;
  readonly weight?: number;
}

/** A chunk with `count` entries that DNS was asked for; each conclusion is noted under the chunk's name. */
function chunkOf(
  conclusions: Conclusions,
  { owner, name, count, turns = 1, weight = 1 }: ChunkOf,
  noted: string[],
) {
  const turnOf = conclusions.begin({ owner, turns });
  const concluded = Array.from({ length: count }, () =>
    turnOf(weight).then(() => noted.push(name)),
  );
  return { end: () => Promise.all(concluded) };
}

test("a turn of the event loop concludes a few entries, one of each owner in turn", async () => {
  const noted: string[] = [];
  const conclusions = new Conclusions();
  const large = chunkOf(conclusions, { owner: "account:a", name: "a", count: 100 }, noted);
  const small = chunkOf(conclusions, { owner: "account:b", name: "b", count: 3 }, noted);
  assert.deepEqual(noted, [], "not while others are asked for");
  await turn();
  assert.deepEqual(noted, ["a", "b", "a", "b", "a", "b", "a", "a"]);
  await Promise.all([large.end(), small.end()]);
  assert.equal(noted.length, 103);
});

test("an owner's oldest chunk comes first", async () => {
  const noted: string[] = [];
  const conclusions = new Conclusions();
  const older = chunkOf(conclusions, { owner: "account:a", name: "older", count: 10 }, noted);
  const newer = chunkOf(conclusions, { owner: "account:a", name: "newer", count: 10 }, noted);
  await Promise.all([older.end(), newer.end()]);
  assert.deepEqual(noted.slice(0, 10), Array<string>(10).fill("older"));
});

const unequal: readonly (readonly [what: string, large: Partial<ChunkOf>])[] = [
  ["whose entries have ten mail hosts each", { weight: 10 }],
  ["with the entries of a long list", { turns: 4 }],
];

for (const [what, large] of unequal) {
  test(`an owner ${what} has fewer turns`, async () => {
    const noted: string[] = [];
    const conclusions = new Conclusions();
    const chunks = [
      chunkOf(conclusions, { owner: "account:a", name: "large", count: 100, ...large }, noted),
      chunkOf(conclusions, { owner: "account:b", name: "small", count: 100 }, noted),
    ];
    await Promise.all(chunks.map((chunk) => chunk.end()));
    const before = noted.slice(0, noted.lastIndexOf("small"));
    const passed = before.filter((name) => name === "large").length;
    assert.equal(passed, Math.ceil(100 / ((large.weight ?? 1) * (large.turns ?? 1))));
  });
}

test("an owner that comes later starts where the others are", async () => {
  const noted: string[] = [];
  const conclusions = new Conclusions();
  const early = chunkOf(conclusions, { owner: "account:a", name: "a", count: 1_000 }, noted);
  for (let turns = 0; turns < 50; turns += 1) await turn();
  const late = chunkOf(conclusions, { owner: "account:b", name: "b", count: 100 }, noted);
  noted.length = 0;
  await Promise.all([early.end(), late.end()]);
  assert.equal(noted.slice(0, 20).filter((name) => name === "b").length, 10);
});

test("of what waits, an owner's part counts as a chunk at most", async () => {
  const noted: string[] = [];
  const conclusions = new Conclusions();
  const chunks = [
    chunkOf(conclusions, { owner: "account:a", name: "a", count: 4 * CHUNK_ENTRIES }, noted),
    chunkOf(conclusions, { owner: "account:b", name: "b", count: 100 }, noted),
  ];
  assert.equal(conclusions.waiting, CHUNK_ENTRIES + 100);
  await Promise.all(chunks.map((chunk) => chunk.end()));
  assert.equal(conclusions.waiting, 0);
});
