import assert from "node:assert/strict";
import { CHUNK_ENTRIES, EMPTY_TALLY } from "../../../src/core/batch/batch-chunk.ts";
import {
  CLAIMS_MAX,
  SILENT_CLAIMS_MAX,
  CRASHING_LIFE_MS,
} from "../../../src/bulk/jobs/chunk-queue.ts";
import {
  accept,
  allValid,
  type BulkStores,
  claim,
  newJob,
  STRANGER,
  takeCompleted,
} from "./bulk-stores.ts";
import { SESSION_LIFE_MS } from "../../../src/bulk/jobs/pack-batch.ts";

export type Rule = (sentence: string, check: (stores: BulkStores) => Promise<void>) => void;

/** What `ChunkQueue` promises of the jobs that `Jobs` holds. */
export function chunkRules(rule: Rule): void {
  rule("chunks are claimed in order, stored once and counted", async (stores) => {
    const session = await accept(stores, newJob(stores, CHUNK_ENTRIES + 1));
    const state = async () => {
      const found = await stores.sessions.find(session, stores.clock.nowMs());
      return [found?.state, found?.processed];
    };
    const end = async () =>
      (await stores.sessions.find(session, stores.clock.nowMs()))?.expiresAtMs;
    assert.deepEqual(await state(), ["pending", 0]);
    assert.equal(await end(), undefined);
    const [first, second] = [await claim(stores), await claim(stores)];
    assert.deepEqual([first.number, second.number], [0, 1]);
    assert.deepEqual(await state(), ["processing", 0]);
    assert.equal(await stores.chunks.complete(second, allValid(1), at(stores)), "stored");
    assert.equal(await stores.chunks.complete(second, allValid(1), at(stores)), "late");
    assert.deepEqual(await state(), ["processing", 1]);
    const rest = allValid(CHUNK_ENTRIES);
    assert.equal(await stores.chunks.complete(first, rest, at(stores)), "finished");
    assert.deepEqual(await state(), ["completed", CHUNK_ENTRIES + 1]);
    assert.equal(await end(), stores.clock.nowMs() + SESSION_LIFE_MS);
    await accept(stores, newJob(stores, 200));
  });

  rule(
    "another worker takes a chunk whose lease has ended, and the first stores nothing",
    async (stores) => {
      await accept(stores, newJob(stores, 200));
      const stopped = await claim(stores, "w1");
      const { chunks, clock } = stores;
      const lease = { worker: "w2", leaseMs: 3_000 };
      clock.advance(2_999);
      assert.equal(await chunks.claim({ ...lease, nowMs: clock.nowMs() }, "t2"), undefined);
      clock.advance(1);
      const taken = await claim(stores, "w2");
      assert.equal(await chunks.complete(stopped, allValid(200), at(stores)), "late");
      assert.equal(await chunks.complete(taken, allValid(200), at(stores)), "finished");
    },
  );

  rule("a renewal names the claims that are still this worker's", async (stores) => {
    const { chunks, clock } = stores;
    await accept(stores, newJob(stores, 2 * CHUNK_ENTRIES));
    const lease = () => ({ worker: "w1", nowMs: clock.nowMs(), leaseMs: 3_000 });
    const first = await chunks.claim(lease(), "t1");
    const second = await chunks.claim(lease(), "t2");
    assert.ok(first !== undefined && second !== undefined);
    const both = { tokens: [first.token, second.token] };
    assert.deepEqual([...(await chunks.renew({ ...lease(), ...both }, 1))].sort(), ["t1", "t2"]);
    clock.advance(3_000);
    const taken = await chunks.claim({ ...lease(), worker: "w2" }, "t3");
    assert.equal(taken?.number, first.number);
    assert.deepEqual([...(await chunks.renew({ ...lease(), ...both }, 1))], ["t2"]);
  });

  rule("a process alone frees the leases that another left", async (stores) => {
    const { chunks, clock } = stores;
    await accept(stores, newJob(stores, CHUNK_ENTRIES));
    const lease = { worker: "w1", nowMs: clock.nowMs(), leaseMs: 60_000 };
    const before = await chunks.claim(lease, "t1");
    assert.ok(before !== undefined);
    await chunks.freeAll(clock.nowMs());
    const again = await chunks.claim({ ...lease, worker: "w2" }, "t2");
    assert.equal(again?.number, before.number);
    const late = { nowMs: clock.nowMs(), conclusive: true };
    assert.equal(await chunks.complete(before, allValid(CHUNK_ENTRIES), late), "late");
  });

  rule("a renewed lease lasts", async (stores) => {
    await accept(stores, newJob(stores, 200));
    const { token } = await claim(stores, "w1");
    const { chunks, clock, jobs } = stores;
    clock.advance(2_000);
    const lease = { worker: "w1", nowMs: clock.nowMs(), leaseMs: 3_000, tokens: [token] };
    await chunks.renew(lease, 1_234.5);
    clock.advance(2_000);
    const other = { worker: "w2", nowMs: clock.nowMs(), leaseMs: 3_000 };
    assert.equal(await chunks.claim(other, "t2"), undefined);
    assert.equal((await jobs.queueAhead(clock.nowMs())).entriesPerSecond, 1_235);
  });

  rule(
    "entries count as soon as a worker says so, once, and also after it was killed",
    async (stores) => {
      const session = await accept(stores, newJob(stores, CHUNK_ENTRIES + 100));
      const { chunks, clock } = stores;
      const shown = async () => {
        const found = await stores.sessions.find(session, clock.nowMs());
        return [found?.processed, found?.tally.valid, found?.chunksDone];
      };
      const answer = async (worker: string, entries: Readonly<Record<string, number>>) => {
        const answered = new Map(
          Object.entries(entries).map(([token, valid]) => [token, { ...EMPTY_TALLY, valid }]),
        );
        const lease = { worker, nowMs: clock.nowMs(), leaseMs: 3_000 };
        await chunks.renew({ ...lease, tokens: [...answered.keys()], answered }, 1);
      };
      const [first, second] = [await claim(stores, "w1"), await claim(stores, "w1")];
      assert.equal(first.answered, 0);
      await answer("w1", { [first.token]: 300, [second.token]: 7 });
      assert.deepEqual(await shown(), [307, 307, 0]);
      await chunks.complete(second, allValid(100), at(stores));
      await answer("w1", { [first.token]: 400, [second.token]: 9 });
      assert.deepEqual(await shown(), [500, 500, 1]);
      clock.advance(3_000);
      const again = await claim(stores, "w2");
      assert.equal(again.answered, 400, "so that the next worker never says less");
      await answer("w1", { [first.token]: 450 });
      assert.deepEqual(await shown(), [500, 500, 1], "the chunk is another's by now");
      await chunks.complete(again, allValid(CHUNK_ENTRIES), at(stores));
      assert.deepEqual(await shown(), [600, 600, 2]);
    },
  );

  rule("owners of lists of one size take turns, whoever came first", async (stores) => {
    const first = await accept(stores, newJob(stores, 5 * CHUNK_ENTRIES));
    await claim(stores);
    const other = await accept(stores, newJob(stores, 5 * CHUNK_ENTRIES, { owner: STRANGER }));
    const order = [];
    for (let turn = 0; turn < 6; turn += 1) order.push((await claim(stores)).session);
    assert.deepEqual(order, [other, first, other, first, other, first]);
  });

  rule(
    "of lists that come together, one of 2,000 is begun whole before the large ones",
    async (stores) => {
      for (let n = 0; n < 9; n += 1) {
        const owner = { kind: "bucket", bucket: `198.51.100.${String(n)}` } as const;
        await accept(stores, newJob(stores, 18 * CHUNK_ENTRIES, { owner }));
      }
      const small = await accept(stores, newJob(stores, 4 * CHUNK_ENTRIES, { owner: STRANGER }));
      for (let turn = 0; turn < 4; turn += 1) assert.equal((await claim(stores)).session, small);
    },
  );

  rule(
    "a list of 2,000 goes ahead of a large one, which gets a chunk in nine beside many of them",
    async (stores) => {
      const large = await accept(stores, newJob(stores, 60 * CHUNK_ENTRIES));
      for (let turn = 0; turn < 10; turn += 1) await claim(stores);
      const order = [];
      for (let n = 0; n < 8; n += 1) {
        stores.clock.advance(1);
        const owner = { kind: "bucket", bucket: `192.0.2.${String(n)}` } as const;
        const small = await accept(stores, newJob(stores, 4 * CHUNK_ENTRIES, { owner }));
        for (let left = 4; left > 0;) {
          const { session } = await claim(stores);
          order.push(session === large ? "large" : "small");
          if (session === small) left -= 1;
        }
      }
      assert.ok(order.indexOf("large") >= 2, order.join(" "));
      assert.ok(order.filter((size) => size === "large").length >= 4, order.join(" "));
    },
  );

  rule("returned chunks are claimed at once, and the claim does not count", async (stores) => {
    await accept(stores, newJob(stores, 200));
    for (let times = 0; times < 2 * CLAIMS_MAX; times += 1) {
      const mine = await claim(stores);
      await stores.chunks.handBack("w1", stores.clock.nowMs());
      assert.equal(await stores.chunks.complete(mine, allValid(200), at(stores)), "late");
    }
    assert.equal(await stores.jobs.failStuck(stores.clock.nowMs()), 0);
    await claim(stores);
  });

  rule("a claim that its worker does not know is not renewed", async (stores) => {
    await accept(stores, newJob(stores, 200));
    await claim(stores, "w1"); // its answer was lost on the way
    const { chunks, clock } = stores;
    clock.advance(2_000);
    await chunks.renew({ worker: "w1", nowMs: clock.nowMs(), leaseMs: 3_000, tokens: [] }, 1);
    clock.advance(1_000);
    assert.equal((await claim(stores, "w2")).number, 0);
  });

  rule("killed workers never fail a job", async (stores) => {
    const session = await accept(stores, newJob(stores, 200));
    const { chunks, jobs, clock } = stores;
    for (let times = 1; times <= 3 * CLAIMS_MAX; times += 1) {
      assert.equal((await claim(stores)).mayCrash, times >= SILENT_CLAIMS_MAX);
      clock.advance(3_000);
      assert.equal(await jobs.failStuck(clock.nowMs()), 0);
    }
    assert.equal(await chunks.complete(await claim(stores), allValid(200), at(stores)), "finished");
    const found = await stores.sessions.find(session, clock.nowMs());
    assert.equal(found?.state, "completed");
  });

  rule("a chunk that silently kills workers fails its job after an hour", async (stores) => {
    const order = newJob(stores, 200);
    const session = await accept(stores, order);
    const { jobs, clock } = stores;
    for (let times = 0; times < SILENT_CLAIMS_MAX; times += 1) {
      clock.advance(3_000);
      await claim(stores);
    }
    clock.advance(order.nowMs + CRASHING_LIFE_MS - clock.nowMs() - 1);
    assert.equal(await jobs.failStuck(clock.nowMs()), 0);
    clock.advance(1);
    assert.equal(await jobs.failStuck(clock.nowMs()), 1);
    const failed = await stores.sessions.find(session, clock.nowMs());
    assert.deepEqual([failed?.state, await stores.unitsUsed()], ["failed", 0]);
  });

  rule("a job that takes hours does not count as stuck", async (stores) => {
    await accept(stores, newJob(stores, 200));
    stores.clock.advance(2 * CRASHING_LIFE_MS);
    await claim(stores);
    stores.clock.advance(3_000);
    assert.equal(await stores.jobs.failStuck(stores.clock.nowMs()), 0);
  });

  rule(
    "a chunk that living workers give up fails its job with a refund, and the owner may submit again",
    async (stores) => {
      const session = await accept(stores, newJob(stores, CHUNK_ENTRIES + 100));
      const { chunks, jobs, clock } = stores;
      const first = await claim(stores);
      await chunks.complete(await claim(stores), allValid(100), at(stores));
      const lease = { worker: "w1", nowMs: clock.nowMs(), leaseMs: 3_000, tokens: [first.token] };
      const answered = new Map([[first.token, { ...EMPTY_TALLY, valid: 40 }]]);
      await chunks.renew({ ...lease, answered }, 1);
      await chunks.release(first, clock.nowMs());
      let times = 1;
      for (; (await jobs.failStuck(clock.nowMs())) === 0; times += 1) {
        assert.ok(times < CLAIMS_MAX, "a chunk is given up at some time");
        const chunk = await claim(stores);
        assert.equal(chunk.number, 0);
        await chunks.release(chunk, clock.nowMs());
      }
      assert.ok(times > SILENT_CLAIMS_MAX);
      assert.equal(
        await chunks.claim({ worker: "w", nowMs: clock.nowMs(), leaseMs: 1 }, "t2"),
        undefined,
      );
      const failed = await stores.sessions.find(session, clock.nowMs());
      assert.deepEqual([failed?.state, failed?.processed], ["failed", 140], "it never falls");
      assert.equal(await stores.unitsUsed(), 100);
      assert.equal(await takeCompleted(stores), undefined);
      await accept(stores, newJob(stores, 200));
    },
  );

  rule(
    "removing a running job refunds entries that were not begun; late results are not stored",
    async (stores) => {
      const session = await accept(stores, newJob(stores, 2 * CHUNK_ENTRIES + 100));
      await stores.chunks.complete(await claim(stores), allValid(CHUNK_ENTRIES), at(stores));
      const late = await claim(stores);
      const nowMs = stores.clock.nowMs();
      assert.equal(await stores.jobs.remove(session, nowMs), true);
      assert.equal(await stores.jobs.remove(session, nowMs), false);
      assert.equal(await stores.unitsUsed(), 2 * CHUNK_ENTRIES);
      const outcome = allValid(CHUNK_ENTRIES);
      assert.equal(await stores.chunks.complete(late, outcome, at(stores)), "late");
      assert.equal(await stores.sessions.find(session, nowMs), undefined);
      assert.equal(await stores.sessions.chunk(session, 0), undefined);
      assert.equal(await takeCompleted(stores), undefined);
    },
  );

  rule("a chunk that was put back because DNS was silent is not refunded", async (stores) => {
    const session = await accept(stores, newJob(stores, CHUNK_ENTRIES + 100));
    const nowMs = stores.clock.nowMs();
    const wait = { nowMs, retryAtMs: nowMs + 2_000, dnsWaitMaxMs: 120_000 };
    assert.equal(await stores.chunks.postpone(await claim(stores), wait), "retry");
    await stores.chunks.complete(await claim(stores), allValid(100), at(stores));
    await stores.jobs.remove(session, nowMs);
    assert.equal(await stores.unitsUsed(), CHUNK_ENTRIES + 100);
  });

  rule("a claim passes over the jobs of owners that have their share", async (stores) => {
    await accept(stores, newJob(stores, 200));
    const { chunks, clock } = stores;
    const lease = { worker: "w1", nowMs: clock.nowMs(), leaseMs: 3_000 };
    const [{ owner = "" } = {}] = [await chunks.claim(lease, "other")];
    await chunks.handBack("w1", clock.nowMs());
    assert.equal(await chunks.claim(lease, "t-1", [owner]), undefined);
    assert.equal((await chunks.claim(lease, "t-2", ["account:nobody"]))?.owner, owner);
  });

  rule("a chunk without any DNS answer waits, and is accepted after 120 s", async (stores) => {
    await accept(stores, newJob(stores, 200));
    const { chunks, clock } = stores;
    const postpone = async () => {
      const nowMs = clock.nowMs();
      const chunk = await claim(stores);
      return chunks.postpone(chunk, { nowMs, retryAtMs: nowMs + 2_000, dnsWaitMaxMs: 120_000 });
    };
    for (let times = 0; times < 60; times += 1) {
      assert.equal(await postpone(), "retry");
      const early = { worker: "w", nowMs: clock.nowMs() + 1_999, leaseMs: 1 };
      assert.equal(await chunks.claim(early, "t2"), undefined);
      clock.advance(2_000);
    }
    assert.equal(await postpone(), "accept");
  });

  rule("an answer from DNS restarts the waiting time", async (stores) => {
    await accept(stores, newJob(stores, 2 * CHUNK_ENTRIES));
    const { chunks, clock } = stores;
    const at = (nowMs: number) => ({ nowMs, retryAtMs: nowMs, dnsWaitMaxMs: 120_000 });
    assert.equal(await chunks.postpone(await claim(stores), at(clock.nowMs())), "retry");
    clock.advance(119_000);
    const done = { nowMs: clock.nowMs(), conclusive: true };
    await chunks.complete(await claim(stores), allValid(CHUNK_ENTRIES), done);
    clock.advance(119_000);
    assert.equal(await chunks.postpone(await claim(stores), at(clock.nowMs())), "retry");
  });
}

/** The end of a chunk that DNS answered. */
export const at = (stores: BulkStores) => ({ nowMs: stores.clock.nowMs(), conclusive: true });
