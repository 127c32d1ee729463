import { strict as assert } from "node:assert";
import { test } from "node:test";
import { FairQueue } from "./fair-queue.ts";
import type { Resource } from "./resources.ts";
import { type Reservation, NoRoom, Share } from "./shares.ts";

const ROW: Resource = {
  unit: "places",
  total: 2,
  perOwner: 1,
  queue: 6,
  queuePerOwner: 4,
};

/** Waits for the owner's turn and notes its name once it comes. */
function wanting(share: Share, order: string[]) {
  return async (name: string, amount = 1): Promise<Reservation> => {
    const hold = await share.wait(name.slice(0, 1), amount);
    order.push(name);
    return hold;
  };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("owner B's first is served before owner A's second, however many A has waiting", async () => {
  const share = new Share("texts", { ...ROW, total: 1 });
  const order: string[] = [];
  const want = wanting(share, order);
  const all = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => want(name));
  for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) {
    await turn();
    assert.equal(order.at(-1), name);
    (await all[["a1", "a2", "a3", "b1", "b2", "c1"].indexOf(name)])?.release();
  }
});

test("an owner that comes late has no turns saved up", async () => {
  const share = new Share("texts", { ...ROW, total: 1 });
  const order: string[] = [];
  const want = wanting(share, order);
  for (let n = 0; n < 5; n += 1) (await want("a")).release();
  const running = await want("a");
  const waiting = [want("b1"), want("b2"), want("b3"), want("a1")];
  running.release();
  for (const open of waiting) void open.then((hold) => hold.release());
  await Promise.all(waiting);
  assert.deepEqual(order.slice(-4), ["b1", "a1", "b2", "b3"]);
});

test("a small piece goes before large ones, and a large one waits for no more than four times its size of them", async () => {
  const share = new Share("small_bodies", { ...ROW, unit: "octets", total: 100, perOwner: 100 });
  const order: string[] = [];
  const waiting = ["large", "x", "y"].map(async (owner) => {
    const hold = await share.wait(owner, 100);
    order.push(owner);
    return hold;
  });
  const first = await waiting[0];
  const small = async (at: number): Promise<void> => {
    const hold = await share.wait(`small ${String(at)}`, 10);
    order.push("small");
    if (order.length < 100) void small(at + 1);
    hold.release();
  };
  void small(0);
  first?.release();
  (await waiting[1])?.release();
  (await waiting[2])?.release();
  assert.equal(order[1], "small");
  const before = order.indexOf("y");
  assert.ok(before > 2 && before <= 42, `${String(before)} went before the last large one`);
});

test("an owner never has more than its share, though there is room", async () => {
  const share = new Share("texts", ROW);
  const order: string[] = [];
  const want = wanting(share, order);
  const held = await want("a1");
  void want("a2");
  await turn();
  assert.deepEqual(order, ["a1"]);
  await want("b1");
  assert.deepEqual(order, ["a1", "b1"]);
  held.release();
  await turn();
  assert.deepEqual(order, ["a1", "b1", "a2"]);
});

test("an owner over its own queue is refused, others are not", async () => {
  const share = new Share("texts", ROW);
  const order: string[] = [];
  const want = wanting(share, order);
  await want("a0");
  for (let n = 1; n <= 4; n += 1) void want(`a${String(n)}`);
  await assert.rejects(want("a5"), (why: NoRoom) => why.why === "owner");
  await want("b1");
  assert.deepEqual(order, ["a0", "b1"]);
  assert.deepEqual(share.figures().refused, { owner: 1, all: 0 });
});

test("a full queue refuses the last of the longest queue, and all only when none is longer", async () => {
  const share = new Share("texts", { ...ROW, queue: 4 });
  const order: string[] = [];
  const want = wanting(share, order);
  await want("a0");
  await want("b0");
  const waiting = [want("a1"), want("a2"), want("a3"), want("b1")];
  const last = assert.rejects(waiting[2] ?? turn(), (why: NoRoom) => why.why === "owner");
  const third = want("c1");
  await last;
  const fourth = want("d1");
  await assert.rejects(waiting[1] ?? turn(), NoRoom);
  await assert.rejects(want("e1"), (why: NoRoom) => why.why === "all");
  void third;
  void fourth;
});

test("an owner with little gets room that the largest owner has beyond an equal part", () => {
  const octets: Resource = { ...ROW, unit: "octets", total: 100, perOwner: 80, queue: 0 };
  const told: string[] = [];
  const share = new Share("large_bodies", octets, ({ owner }) => told.push(owner));
  const ended: string[] = [];
  share.take("a", 40, { reclaim: () => ended.push("a1") });
  share.take("a", 40, { reclaim: () => ended.push("a2") });
  const kept = share.take("b", 20, { reclaim: () => ended.push("b") });
  share.take("c", 30, { reclaim: () => ended.push("c") });
  assert.deepEqual(ended, ["a1"]);
  assert.deepEqual(told, ["a"]);
  assert.throws(
    () => share.take("d", 30),
    (why: NoRoom) => why.why === "all",
  );
  kept.release();
  assert.equal(share.figures().used, 70);
});

test("a hold grows within the share of its owner, and never after it was reclaimed", () => {
  const octets: Resource = { ...ROW, unit: "octets", total: 100, perOwner: 60, queue: 0 };
  const share = new Share("large_bodies", octets);
  const hold = share.take("a", 50, { reclaim: () => undefined });
  hold.grow(10);
  assert.throws(
    () => hold.grow(1),
    (why: NoRoom) => why.why === "owner",
  );
  share.take("b", 40);
  share.take("c", 10);
  assert.throws(() => hold.grow(1), NoRoom);
  hold.release();
  assert.equal(share.figures().used, 50);
});

test("the figures name the largest owner since the last reading, and forget who left", () => {
  const share = new Share("view_streams", { ...ROW, total: 10, perOwner: 8 });
  const holds = [share.take("a"), share.take("a"), share.take("b")];
  for (const hold of holds) hold.release();
  assert.equal(share.figures("look").largest, 2);
  assert.equal(share.figures().largest, 2);
  assert.deepEqual([share.figures().largest, share.figures().owners], [0, 0]);
});

test("a piece larger than the share takes all of it instead of waiting for ever", async () => {
  const share = new Share("files", { ...ROW, unit: "octets", total: 10, perOwner: 10 });
  const hold = await share.wait("a", 99);
  assert.equal(share.figures().used, 10);
  hold.release();
});

test("work that fails gives its room back", async () => {
  const share = new Share("texts", ROW);
  await assert.rejects(share.run("a", () => Promise.reject(new Error("broken"))));
  assert.equal(share.figures().used, 0);
});

test("what waited is begun one in a turn of the event loop, not all in the turn of a release", async () => {
  const share = new Share("texts", { ...ROW, total: 1 });
  const order: string[] = [];
  const first = await share.wait("a");
  const works = ["b", "c", "d"].map((owner) =>
    share.run(owner, () => Promise.resolve(void order.push(owner))),
  );
  first.release();
  const counts: number[] = [];
  for (let turns = 0; turns < 4; turns += 1) {
    counts.push(order.length);
    await turn();
  }
  await Promise.all(works);
  assert.deepEqual(counts, [0, 1, 2, 3]);
});

test("nobody takes at once while another waits, and what did not fit is not counted as refused", async () => {
  const share = new Share("writes", { ...ROW, total: 1 });
  const first = share.takeIfFree("a");
  assert.equal(share.takeIfFree("b"), undefined);
  const waiting = share.wait("b");
  first?.release();
  const second = await waiting;
  const third = share.wait("c");
  assert.equal(share.takeIfFree("d"), undefined);
  second.release();
  (await third).release();
  assert.deepEqual(share.figures().refused, { owner: 0, all: 0 });
});

test("an owner's pieces go by rank, and its last one can be taken out", () => {
  const queue = new FairQueue<string>();
  for (const [item, rank] of [
    ["new", 2],
    ["old", 1],
    ["newer", 2],
  ] as const) {
    queue.push("a", item, 1, rank);
  }
  queue.push("b", "other");
  assert.deepEqual([queue.length, queue.lengthOf("a"), queue.longest()], [4, 3, "a"]);
  assert.equal(queue.pop("a"), "newer");
  const order = [queue.next(), queue.next(), queue.next(), queue.next()];
  assert.deepEqual(
    order.map((piece) => piece?.item),
    ["old", "other", "new", undefined],
  );
});

test("an owner that has just been served does not go first again", () => {
  const queue = new FairQueue<string>();
  queue.charge("a", 1);
  queue.push("a", "a");
  queue.push("b", "b");
  assert.equal(queue.next()?.item, "b");
});

test("owners that are gone are forgotten", () => {
  const queue = new FairQueue<string>();
  for (let at = 0; at < 10_000; at += 1) queue.charge(`owner ${String(at)}`, 1);
  assert.ok(queue.owners < 200, String(queue.owners));
});
