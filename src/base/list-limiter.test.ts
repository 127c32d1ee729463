import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ListLimiter } from "./list-limiter.ts";

/** Begins as many names as may begin at once. */
function fill(pace: ReturnType<ListLimiter["begin"]>, names: number): number {
  let begun = 0;
  while (begun < names && pace.enter() === undefined) begun += 1;
  return begun;
}

test("an owner whose names nobody answers has an eighth of the window at once", () => {
  const paces = new ListLimiter(() => 800);
  assert.equal(fill(paces.begin("a", 5_000), 500), 100);
});

test("an owner whose names are answered has the whole window soon", () => {
  const pace = new ListLimiter(() => 800).begin("a", 5_000);
  let begun = 0;
  for (let round = 0; round < 5; round += 1) {
    begun = fill(pace, 2_000);
    for (let n = 0; n < begun; n += 1) pace.leave(true);
  }
  assert.ok(begun > 800);
});

test("an owner with many answers keeps the window when its silent names end together", () => {
  const pace = new ListLimiter(() => 800).begin("a", 6_000);
  for (let name = 0; name < 5_000; name += 1) {
    void pace.enter();
    pace.leave(true);
  }
  fill(pace, 1_000);
  for (let name = 0; name < 500; name += 1) pace.leave(false);
  assert.equal(fill(pace, 300), 300);
});

test("fifty owners behind silent servers leave room for another", () => {
  const paces = new ListLimiter(() => 800);
  const silent = Array.from({ length: 50 }, (_, n) => paces.begin(`silent ${String(n)}`, 5_000));
  for (let round = 0; round < 3; round += 1) {
    for (const pace of silent) {
      for (let begun = fill(pace, 500); begun > 0; begun -= 1) pace.leave(false);
    }
  }
  const held = silent.reduce((sum, pace) => sum + fill(pace, 500), 0);
  assert.ok(held <= 600, String(held));
  const victim = paces.begin("victim", 5_000);
  let begun = fill(victim, 500);
  assert.ok(begun >= 4);
  for (let round = 0; round < 8; round += 1) {
    for (; begun > 0; begun -= 1) victim.leave(true);
    begun = fill(victim, 500);
  }
  assert.ok(begun > 200, String(begun));
});

test("owners that come one after the other never fill the window with silent names", () => {
  const paces = new ListLimiter(() => 800);
  const held = Array.from({ length: 50 }, (_, n) =>
    fill(paces.begin(`silent ${String(n)}`, 5_000), 500),
  );
  assert.ok(held.reduce((sum, each) => sum + each, 0) <= 400 + 100 + 50 * 4);
  assert.ok(fill(paces.begin("victim", 5_000), 500) >= 4);
});

test("an owner has enough while as many of its names wait as may be under way", () => {
  const paces = new ListLimiter(() => 800);
  assert.equal(paces.hasEnough("a"), false);
  const chunk = paces.begin("a", 500);
  assert.equal(fill(chunk, 100), 100);
  assert.equal(paces.hasEnough("a"), true, "400 wait and 100 may be under way");
  for (let n = 0; n < 100; n += 1) chunk.leave(true);
  assert.equal(fill(chunk, 200), 200);
  assert.equal(paces.hasEnough("a"), true, "200 wait and 200 may be under way");
  chunk.leave(true);
  assert.equal(paces.hasEnough("a"), false);
  chunk.end();
  assert.deepEqual(paces.owners(), []);
});

test("beside another owner a chunk that waits is enough", () => {
  const paces = new ListLimiter(() => 8_000);
  paces.begin("a", 500);
  assert.equal(paces.hasEnough("a"), false, "1,000 may be under way");
  const other = paces.begin("b", 1);
  assert.equal(paces.hasEnough("a"), true);
  other.end();
  assert.equal(paces.hasEnough("a"), false);
});

test("names are ready that wait for others', a chunk's worth of an owner, and none behind its own silent ones", () => {
  let begun = 0;
  const paces = new ListLimiter(
    () => 800,
    () => (begun += 1),
  );
  const large = paces.begin("a", 5_000);
  assert.deepEqual([paces.ready, begun], [500, 0]);
  const small = paces.begin("b", 50);
  assert.equal(paces.ready, 550);
  assert.equal(fill(small, 20), 20);
  assert.deepEqual([paces.ready, begun], [530, 20]);
  fill(large, 500);
  assert.deepEqual(
    [paces.ready, begun],
    [30, 21],
    "the large one waits for its own names' answers",
  );
  large.end();
  small.end();
  assert.deepEqual([paces.ready, begun], [0, 22]);
});

test("a name that ends lets the next of its own owner begin, in order", async () => {
  const pace = new ListLimiter(() => 32).begin("a", 5_000);
  const order: number[] = [];
  assert.equal(fill(pace, 4), 4);
  const waiting = [1, 2].map((n) => pace.enter()?.then(() => order.push(n)));
  pace.leave(false);
  await waiting[0];
  assert.deepEqual(order, [1]);
});

test("of one owner's chunks the oldest goes on first", async () => {
  const paces = new ListLimiter(() => 32);
  const [older, newer] = [paces.begin("account:a", 5_000), paces.begin("account:a", 5_000)];
  for (let name = 0; name < 4; name += 1) assert.equal(older.enter(), undefined);
  const started: string[] = [];
  const waits = [
    newer.enter()?.then(() => started.push("newer")),
    older.enter()?.then(() => started.push("older")),
  ];
  older.leave(false);
  await waits[1];
  assert.deepEqual(started, ["older"]);
  older.leave(false);
  await waits[0];
  assert.deepEqual(started, ["older", "newer"]);
});
