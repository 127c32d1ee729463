import { strict as assert } from "node:assert";
import { test } from "node:test";
import { CHUNK_ENTRIES } from "../../../core/batch/batch-chunk.ts";
import type { OwnerKey } from "../../../ports/admission/owner.ts";
import { Conclusions } from "./conclusions.ts";
import type { Heard } from "./entry-check.ts";

const HEARD: Heard = {
  isAnswered: true,
  conclude: () => assert.fail("the chunk's own function concludes"),
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A chunk with `count` entries that DNS was asked for; each conclusion is noted under the chunk's name. */
function chunkOf(
  conclusions: Conclusions,
  { owner, name, count }: { owner: OwnerKey; name: string; count: number },
  noted: string[],
) {
  const chunk = conclusions.begin(owner, () => void noted.push(name));
  for (let at = 0; at < count; at += 1) chunk.add(at, HEARD);
  return chunk;
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

test("a fault ends its chunk once the others are concluded, and later entries are left alone", async () => {
  const conclusions = new Conclusions();
  const concluded: number[] = [];
  const chunk = conclusions.begin("account:a", (at) => {
    if (at === 1) throw new Error("a bug");
    concluded.push(at);
  });
  for (const at of [0, 1, 2]) chunk.add(at, HEARD);
  await assert.rejects(chunk.end(), /a bug/);
  chunk.add(3, HEARD);
  await turn();
  assert.deepEqual(concluded, [2, 0]);
});

test("four owners with a chunk each are enough, one with thousands is not", async () => {
  let freed = 0;
  const conclusions = new Conclusions(() => (freed += 1));
  const noted: string[] = [];
  const begin = (owner: OwnerKey, count: number) =>
    chunkOf(conclusions, { owner, name: owner, count }, noted);
  const chunks = [begin("account:a", 4 * CHUNK_ENTRIES)];
  for (const owner of ["account:b", "account:c", "account:d"] as const) {
    assert.equal(conclusions.hasEnough, false);
    chunks.push(begin(owner, CHUNK_ENTRIES));
  }
  assert.deepEqual([conclusions.hasEnough, freed], [true, 0]);
  await turn();
  assert.deepEqual([conclusions.hasEnough, freed], [false, 1]);
  await Promise.all(chunks.map((chunk) => chunk.end()));
  assert.deepEqual([conclusions.hasEnough, freed, noted.length], [false, 1, 7 * CHUNK_ENTRIES]);
});

test("a chunk without entries ends at once", async () => {
  await new Conclusions().begin("account:a", () => assert.fail()).end();
});
