import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { FairQueue, netOf } from "./fair-queue.ts";
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

test("nobody takes at once while another waits, and who waits is not counted as refused", async () => {
  const share = new Share("writes", { ...ROW, perOwner: 2 });
  const order: string[] = [];
  const want = wanting(share, order);
  const first = await want("a");
  const waiting = want("b", 2);
  void want("c"); // it would fit
  await turn();
  assert.deepEqual([order, share.used, share.waiting], [["a"], 1, 2]);
  first.release();
  (await waiting).release();
  await turn();
  assert.deepEqual(order, ["a", "b", "c"]);
  assert.deepEqual(share.figures().refused, { owner: 0, all: 0 });
});

test("an owner's pieces go by rank, and its last one can be taken out", () => {
  const queue = new FairQueue<string>();
  for (const [item, rank] of [
    ["new", 2],
    ["old", 1],
    ["newer", 2],
  ] as const) {
    queue.push("a", item, { rank });
  }
  queue.push("b", "other");
  const last = queue.last();
  assert.deepEqual([queue.length, queue.lengthOf("a"), last?.item], [4, 3, "newer"]);
  assert.equal(last !== undefined && queue.remove(last), true);
  const order = [queue.next(), queue.next(), queue.next(), queue.next()];
  assert.deepEqual(
    order.map((piece) => piece?.item),
    ["other", "old", "new", undefined],
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

for (const before of [0, 1, 2, 3]) {
  test(`eight owners wait, the first piece takes 1,000 times what was expected: a newcomer is third (after ${String(before)} turns)`, () => {
    const queue = new FairQueue<string>();
    for (let turn = 0; turn < before; turn += 1) {
      queue.push(`earlier ${String(turn)}`, "earlier");
      queue.next();
    }
    for (const owner of "abcdefgh") for (const at of "12") queue.push(owner, owner + at);
    const served = [queue.next()];
    queue.charge(served[0]?.owner ?? "", 1_000);
    queue.push("newcomer", "newcomer");
    while (queue.length > 0) served.push(queue.next());
    const order = served.map((piece) => piece?.item);
    assert.ok(order.indexOf("newcomer") <= 2, order.join(" "));
    assert.equal(served.at(-1)?.owner, served[0]?.owner, "only its owner pays for what it took");
  });
}

const PIECES = fc.array(
  fc.record({
    owner: fc.integer({ min: 0, max: 9 }),
    cost: fc.integer({ min: 1, max: 50 }),
    late: fc.integer({ min: 0, max: 10_000 }),
    /** Places of its owner that are taken for so many turns. */
    turns: fc.integer({ min: 0, max: 5 }),
    isServed: fc.boolean(),
  }),
  { maxLength: 200 },
);

test("a newcomer is never behind more than one piece of each waiting owner, whatever a piece turned out to cost", () => {
  const property = fc.property(PIECES, fc.integer({ min: 1, max: 50 }), (pieces, cost) => {
    const queue = new FairQueue<number>({ total: () => Infinity, perOwner: () => 2 });
    const late = new Map<string, number>();
    const held: { owner: string; turns: number }[] = [];
    const serve = (): string | undefined => {
      for (const one of held) one.turns -= 1;
      for (const { owner, turns } of held) if (turns <= 0) queue.release(owner);
      held.splice(0, held.length, ...held.filter(({ turns }) => turns > 0));
      const next = queue.next();
      if (next === undefined) return undefined;
      held.push({ owner: next.owner, turns: next.item });
      queue.charge(next.owner, late.get(next.owner) ?? 0);
      return next.owner;
    };
    for (const piece of pieces) {
      const owner = String(piece.owner);
      late.set(owner, piece.late);
      queue.push(owner, piece.turns, { cost: piece.cost });
      if (piece.isServed) serve();
    }
    queue.push("newcomer", 0, { cost });
    const before = new Set<string>();
    for (let turns = 0; turns < 1_000; turns += 1) {
      const owner = serve();
      if (owner === "newcomer") return;
      if (owner === undefined) continue;
      assert.ok(!before.has(owner), `${owner} went twice`);
      before.add(owner);
    }
    assert.fail("the newcomer never had its turn");
  });
  fc.assert(property, { numRuns: 300 });
});

test("newcomers do not pass a waiting owner for ever", () => {
  const queue = new FairQueue<string>();
  queue.charge("a", 1_000_000);
  queue.push("a", "a");
  let turns = 0;
  for (let item = ""; item !== "a" && turns < 1_000; turns += 1) {
    queue.push(`newcomer ${String(turns)}`, "newcomer");
    item = queue.next()?.item ?? "";
  }
  assert.ok(turns <= 64, String(turns));
});

for (const [owner, net] of [
  ["bucket:2001:db8:1:2::/64", "8193:3512:1"],
  ["bucket:2001:db8:1:ffff::/64", "8193:3512:1"],
  ["bucket:2001:db8:0:0::/64", "8193:3512:0"],
  ["bucket:2001:db8::/64", "8193:3512:0"],
  ["bucket:2001::/64", "8193:0:0"],
  ["bucket:::/64", "0:0:0"],
  ["bucket:192.0.2.1", ""],
  ["bucket:unknown", ""],
  ["bucket:proxied 64", ""],
  ["account:0/64", ""],
] as const) {
  test(`the /48 of ${owner} is ${net === "" ? "none" : net}`, () => {
    assert.equal(netOf(owner), net);
  });
}

test("a turn among 10,000 waiting owners costs at most fifteen times one among ten", () => {
  const turnUs = (owners: number): number => {
    const queue = new FairQueue<number>();
    for (let at = 0; at < owners; at += 1) queue.push(`owner ${String(at)}`, at);
    const serve = (turns: number): void => {
      for (let turn = 0; turn < turns; turn += 1) {
        const piece = queue.next();
        if (piece === undefined) throw new Error("a piece waits");
        queue.release(piece.owner);
        queue.push(piece.owner, 0);
      }
    };
    serve(1_000);
    const before = process.cpuUsage().user;
    serve(4_000);
    return (process.cpuUsage().user - before) / 4_000;
  };
  const [few, many] = [turnUs(10), turnUs(10_000)];
  assert.ok(many <= Math.max(few * 15, 15), `${few.toFixed(1)} and ${many.toFixed(1)} us`);
});

const bucketIn = (net: string, at: number): string => `bucket:${net}:${at.toString(16)}::/64`;

test("the /64s of one /48 have at most a quarter of a queue, and nobody else is refused for them", async () => {
  const share = new Share("files", { ...ROW, total: 1, queue: 256, queuePerOwner: 16 });
  const first = await share.wait("bucket:192.0.2.1");
  const refused: NoRoom[] = [];
  for (let at = 0; at < 256; at += 1) {
    const waiting = share.wait(bucketIn("2001:db8:1", at));
    waiting.catch((why: unknown) => refused.push(why as NoRoom));
  }
  const served: string[] = [];
  for (const owner of ["bucket:192.0.2.2", bucketIn("2001:db8:2", 1), "account:a"]) {
    void share.wait(owner).then(() => served.push(owner));
  }
  await turn();
  assert.equal(share.figures().waiting, 64 + 3);
  assert.equal(refused.length, 192);
  assert.ok(refused.every(({ why }) => why === "owner"));
  first.release();
});

test("who leaves is dropped at once, and its place in the queue is free", async () => {
  const share = new Share("files", { ...ROW, total: 1, queuePerOwner: 2 });
  const first = await share.wait("a");
  const left = new AbortController();
  const { signal } = left;
  const waiting = [share.wait("b", 1, { signal }), share.wait("b", 1, { signal })];
  const gone = Promise.all(waiting.map((one) => assert.rejects(one, { message: "left" })));
  await assert.rejects(share.wait("b"), NoRoom);
  left.abort(new Error("left"));
  await gone;
  assert.equal(share.figures().waiting, 0);
  const second = share.wait("b");
  first.release();
  (await second).release();
  await assert.rejects(share.wait("b", 1, { signal }), { message: "left" });
  assert.equal(share.figures().used, 0);
});
