import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { WriteBehind } from "./write-behind.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function world(max = 100) {
  const clock = manualClock();
  const saved: string[][] = [];
  const losses: number[] = [];
  const store = { failAt: Infinity };
  const behind = new WriteBehind<string>({
    afterMs: 1_000,
    batch: 2,
    max,
    sizeOf: (item) => item.length,
    merge: (older, newer) => older + newer,
    clock,
    failed: (_fault, lost) => losses.push(lost),
    save(items) {
      store.failAt -= 1;
      if (store.failAt < 0) return Promise.reject(new Error("down"));
      saved.push([...items]);
      return Promise.resolve();
    },
  });
  return { clock, saved, losses, store, behind };
}

test("a write that fails half way keeps what was not written, merged with what comes later", async () => {
  const { behind, saved, store } = world();
  for (const key of ["a", "b", "c"]) behind.note(key, key);
  store.failAt = 1;
  const failing = behind.flush();
  await turn();
  behind.note("c", "!");
  await assert.rejects(failing, /down/);
  store.failAt = Infinity;
  await behind.flush();
  assert.deepEqual(saved, [["a", "b"], ["c!"]]);
});

test("a store that is away for long costs bounded memory, and the log says how much was lost", async () => {
  const { clock, behind, losses, saved, store } = world(3);
  store.failAt = 0;
  for (const key of ["a", "b", "c", "d", "e"]) behind.note(key, key);
  clock.advance(1_000);
  await turn();
  assert.deepEqual(losses, [2]);
  store.failAt = Infinity;
  clock.advance(1_000);
  await turn();
  assert.deepEqual(saved.flat(), ["a", "b", "c"]);
});

test("an outage is told once, what is lost in it too, and the next outage again", async () => {
  const { clock, behind, losses, store } = world(3);
  const write = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) behind.note(key, key);
    clock.advance(1_000);
    await turn();
  };
  store.failAt = 0;
  await write("a");
  await write("b");
  await write("c");
  assert.deepEqual(losses, [0]);
  await write("d");
  assert.deepEqual(losses, [0, 1]);
  store.failAt = Infinity;
  await write();
  store.failAt = 0;
  await write("e");
  await write("f");
  assert.deepEqual(losses, [0, 1, 0]);
});

test("what is being written can be read until it is written", async () => {
  const { behind } = world();
  behind.note("a", "1");
  const writing = behind.flush();
  await Promise.resolve();
  behind.note("a", "2");
  assert.deepEqual(behind.under("a"), ["1", "2"]);
  await writing;
  assert.deepEqual(behind.under("a"), ["2"]);
});

test("what may not be written waits on, and a failed write is tried again later", async () => {
  const clock = manualClock();
  const saved: string[] = [];
  const state = { barred: "b", isDown: true };
  const behind = new WriteBehind<string>({
    afterMs: 100,
    retryAfterMs: 2_000,
    mayWrite: (key) => key !== state.barred,
    batch: Infinity,
    max: Infinity,
    merge: (older, newer) => older + newer,
    clock,
    failed: () => undefined,
    save(items) {
      if (state.isDown) return Promise.reject(new Error("down"));
      saved.push(...items);
      return Promise.resolve();
    },
  });
  for (const key of ["a", "b"]) behind.note(key, key);
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turns = 0; turns < 3; turns += 1) await turn();
  };
  await pass(100);
  state.isDown = false;
  await pass(1_900);
  assert.deepEqual([saved, behind.under("a")], [[], ["a"]]);
  await pass(100);
  assert.deepEqual([saved, behind.under("b")], [["a"], ["b"]]);
  state.barred = "";
  await behind.flush();
  assert.deepEqual(saved, ["a", "b"]);
});
