import { strict as assert } from "node:assert";
import { test } from "node:test";
import { CHUNK_ENTRIES } from "../../core/batch/batch-chunk.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { ResultQueue } from "./process-chunk.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface ChunkOf {
  readonly owner: OwnerKey;
  readonly name: string;
  readonly count: number;
  readonly turns?: number;
  readonly weight?: number;
}

/** A chunk with `count` entries that DNS was asked for; each result is noted under the chunk's name. */
function chunkOf(
  queue: ResultQueue,
  { owner, name, count, turns = 1, weight = 1 }: ChunkOf,
  noted: string[],
) {
  const waitForTurn = queue.begin({ owner, turns });
  const computed = Array.from({ length: count }, () =>
    waitForTurn(weight).then(() => noted.push(name)),
  );
  return { end: () => Promise.all(computed) };
}

test("a turn of the event loop computes a few results, one of each owner in turn", async () => {
  const noted: string[] = [];
  const queue = new ResultQueue();
  const large = chunkOf(queue, { owner: "account:a", name: "a", count: 100 }, noted);
  const small = chunkOf(queue, { owner: "account:b", name: "b", count: 3 }, noted);
  assert.deepEqual(noted, [], "not while others are asked for");
  await turn();
  assert.deepEqual(noted, ["a", "b", "a", "b", "a", "b", "a", "a"]);
  await Promise.all([large.end(), small.end()]);
  assert.equal(noted.length, 103);
});

test("an owner's oldest chunk comes first", async () => {
  const noted: string[] = [];
  const queue = new ResultQueue();
  const older = chunkOf(queue, { owner: "account:a", name: "older", count: 10 }, noted);
  const newer = chunkOf(queue, { owner: "account:a", name: "newer", count: 10 }, noted);
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
    const queue = new ResultQueue();
    const chunks = [
      chunkOf(queue, { owner: "account:a", name: "large", count: 100, ...large }, noted),
      chunkOf(queue, { owner: "account:b", name: "small", count: 100 }, noted),
    ];
    await Promise.all(chunks.map((chunk) => chunk.end()));
    const before = noted.slice(0, noted.lastIndexOf("small"));
    const passed = before.filter((name) => name === "large").length;
    assert.equal(passed, Math.ceil(100 / ((large.weight ?? 1) * (large.turns ?? 1))));
  });
}

test("an owner that comes later starts where the others are", async () => {
  const noted: string[] = [];
  const queue = new ResultQueue();
  const early = chunkOf(queue, { owner: "account:a", name: "a", count: 1_000 }, noted);
  for (let turns = 0; turns < 50; turns += 1) await turn();
  const late = chunkOf(queue, { owner: "account:b", name: "b", count: 100 }, noted);
  noted.length = 0;
  await Promise.all([early.end(), late.end()]);
  assert.equal(noted.slice(0, 20).filter((name) => name === "b").length, 10);
});

test("of what waits, an owner's part counts as a chunk at most", async () => {
  const noted: string[] = [];
  const queue = new ResultQueue();
  const chunks = [
    chunkOf(queue, { owner: "account:a", name: "a", count: 4 * CHUNK_ENTRIES }, noted),
    chunkOf(queue, { owner: "account:b", name: "b", count: 100 }, noted),
  ];
  assert.equal(queue.waiting, CHUNK_ENTRIES + 100);
  await Promise.all(chunks.map((chunk) => chunk.end()));
  assert.equal(queue.waiting, 0);
});
