import { strict as assert } from "node:assert";
import { test } from "node:test";
import { checkAll } from "./process-chunk.ts";

const noWait = (): undefined => undefined;

test("results are in the order of the items, whichever ends first", async () => {
  const ends = new Map<number, () => void>();
  const all = checkAll(
    [0, 1, 2],
    (item) => new Promise((resolve) => ends.set(item, () => resolve(item * 10))),
    noWait,
  );
  for (const item of [2, 0, 1]) ends.get(item)?.();
  assert.deepEqual(await all, [0, 10, 20]);
});

test("no items have no results", async () => {
  assert.deepEqual(await checkAll([], () => Promise.reject(new Error()), noWait), []);
});

test("a fault that comes while others wait for room is told when all have begun", async () => {
  let makeRoom = (): void => undefined;
  const begun: number[] = [];
  const all = checkAll(
    [0, 1],
    (item) => {
      begun.push(item);
      return item === 0 ? Promise.reject(new Error("first")) : Promise.resolve(item);
    },
    () => (begun.length === 0 ? undefined : new Promise((resolve) => (makeRoom = resolve))),
  );
  await new Promise((resolve) => setImmediate(resolve));
  makeRoom();
  await assert.rejects(all, /first/);
  assert.deepEqual(begun, [0, 1]);
});
