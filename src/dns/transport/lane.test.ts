import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnerKey } from "../../base/owner.ts";
import { countedPermits, Lane } from "./lane.ts";

const [A, B]: readonly OwnerKey[] = ["bucket:192.0.2.1", "bucket:192.0.2.2"];

/** A lane of items that are named after their owner: "A1". */
function world(places: number, window?: number, perTurn?: number) {
  const started: string[] = [];
  let nowMs = 0;
  const lane = new Lane<string>({
    permits: countedPermits(places),
    start: (item) => void started.push(item),
    nowMs: () => nowMs,
    ...(window !== undefined && { window: () => window }),
    ...(perTurn !== undefined && { perTurn }),
  });
  const ownerOf = (item: string): OwnerKey | undefined => ({ A, B })[item[0] ?? ""];
  return {
    started,
    lane,
    pass: (ms: number) => void (nowMs += ms),
    add: (...items: string[]) => items.forEach((item) => lane.add(item, ownerOf(item))),
    retry: (item: string) => lane.addUrgent(item, ownerOf(item)),
    /** It is over, and gives its place back. */
    end: (item: string) => {
      lane.over(ownerOf(item), true);
      lane.release(ownerOf(item));
    },
  };
}

test("items of one owner start in their order, its urgent ones first", () => {
  const { started, add, retry, end } = world(1);
  add("A1", "A2", "A3");
  retry("A1");
  for (const item of ["A1", "A2", "A3"]) end(item);
  assert.deepEqual(started, ["A1", "A1", "A2", "A3"]);
});

test("so many items start in one turn of the event loop, and the others in later ones", async () => {
  const { started, add, pass } = world(100, undefined, 2);
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  add("A1", "A2", "A3", "A4", "A5");
  assert.deepEqual(started, ["A1", "A2"]);
  pass(1);
  add("B1");
  await turn();
  assert.deepEqual(started.slice(2), ["B1", "A3"]);
  await turn();
  assert.deepEqual(started.slice(4), ["A4", "A5"]);
  await turn();
  await turn();
  add("B2");
  assert.deepEqual(started.slice(6), ["B2"]);
});

test("a free place is the owner's that had places for the shortest time", () => {
  const { started, add, end, pass } = world(2);
  add("A1", "B1", "A2", "A3", "B2", "B3");
  pass(5);
  end("B1"); // both had 5 ms, and the place is A's, who waited first
  pass(5);
  end("A1"); // A had 15 ms, B 5
  pass(5);
  end("B2");
  assert.deepEqual(started, ["A1", "B1", "A2", "B2", "B3"]);
});

test("an owner's retries do not go before the first tries of one who had places for a shorter time", () => {
  const { started, add, retry, lane, pass } = world(2);
  add("A1", "A2", "A3");
  pass(400);
  add("B1");
  retry("A1");
  lane.release(A); // the time of A1's first try is over
  lane.release(A);
  assert.deepEqual(started, ["A1", "A2", "B1", "A1"]);
});

test("an owner that comes later has no credit from the time before", () => {
  const { started, add, end, pass } = world(1);
  add("A1", "A2", "A3");
  pass(100);
  end("A1"); // A2 starts, and from here on both are alike
  add("B1", "B2", "B3");
  for (const item of ["A2", "B1", "B2"]) {
    pass(10);
    end(item);
  }
  assert.deepEqual(started, ["A1", "A2", "B1", "A3", "B2"]);
});

test("an owner has an eighth of the window, and a place more for each answer", () => {
  const { started, add, lane } = world(100, 80);
  const items = Array.from({ length: 40 }, (_, at) => `A${String(at)}`);
  add(...items);
  assert.equal(started.length, 10);
  for (let n = 0; n < 3; n += 1) {
    lane.over(A, true);
    lane.release(A);
  }
  assert.equal(started.length, 16); // 3 that ended, 10, and 3 that they earned
  lane.over(A, false);
  lane.release(A);
  assert.equal(started.length, 16); // a silent one costs four answers
});

test("items without an owner go first", () => {
  const { started, add, lane } = world(1);
  add("A1", "B1", "x");
  lane.release();
  assert.deepEqual(started, ["A1", "x"]);
});

test("there is room while fewer than 256 items wait, whoever has them", async () => {
  const { add, lane } = world(1);
  add("x");
  for (let n = 1; n < 256; n += 1) add(n % 2 === 0 ? "B1" : "A1");
  assert.equal(lane.room(), undefined);
  add("A1");
  let isRoom = false;
  void lane.room()?.then(() => (isRoom = true));
  for (let n = 0; n < 130; n += 1) lane.release();
  await Promise.resolve();
  assert.equal(isRoom, true);
});
