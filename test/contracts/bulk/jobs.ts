import assert from "node:assert/strict";
import { test } from "node:test";
import { CHUNK_ENTRIES } from "../../../src/core/batch/batch-chunk.ts";
import {
  ACCOUNT,
  accept,
  allValid,
  type BulkStores,
  claim,
  newBatch,
  newJob,
  STRANGER,
  takeCompleted,
  termsFor,
} from "./bulk-stores.ts";
import type { Make } from "../contract.ts";
import { at, chunkRules, type Rule } from "./chunk-queue.ts";

const MINUTE_MS = 60_000;

/** The contract of `Jobs` and `ChunkQueue`, which are two views of the same rows. */
export function jobsContract(name: string, make: Make<BulkStores>): void {
  const rule: Rule = (sentence, check) => {
    test(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };

  rule("a job is charged once, and an owner has one at a time", async (stores) => {
    await accept(stores, newJob(stores, 200));
    const second = newJob(stores, 300);
    assert.deepEqual(await stores.jobs.create(second, termsFor(second)), { kind: "running" });
    assert.equal(await stores.unitsUsed(), 200);
  });

  rule("one of two parallel jobs is accepted", async (stores) => {
    const orders = [newJob(stores, 200), newJob(stores, 200)];
    const outcomes = await Promise.all(
      orders.map((order) => stores.jobs.create(order, termsFor(order))),
    );
    assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["accepted", "running"]);
    assert.equal(await stores.unitsUsed(), 200);
  });

  rule("refusals come in the order running, cooldown, unpaid, full", async (stores) => {
    const more = { owner: STRANGER, cooldownMs: MINUTE_MS };
    const first = newJob(stores, 200, more);
    await accept(stores, first);
    const next = (): ReturnType<typeof newJob> => newJob(stores, 200, { ...more, bufferMax: 10 });
    const broke = { limits: { daily: 0, monthly: null } };
    let order = next();
    assert.equal((await stores.jobs.create(order, termsFor(order, broke))).kind, "running");
    await stores.jobs.remove(first.session, stores.clock.nowMs());
    stores.clock.advance(20_000);
    order = next();
    assert.deepEqual(await stores.jobs.create(order, termsFor(order, broke)), {
      kind: "cooldown",
      untilMs: first.nowMs + MINUTE_MS,
    });
    stores.clock.advance(40_000);
    order = next();
    assert.deepEqual(await stores.jobs.create(order, termsFor(order, broke)), {
      kind: "unpaid",
      by: "day",
    });
    assert.deepEqual(await stores.jobs.create(order, termsFor(order)), { kind: "full" });
  });

  rule("a refused job leaves no charge and no row", async (stores) => {
    const order = newJob(stores, 200, { bufferMax: 199 });
    assert.equal((await stores.jobs.create(order, termsFor(order))).kind, "full");
    assert.equal(await stores.unitsUsed(), 0);
    assert.equal(await stores.sessions.find(order.session, stores.clock.nowMs()), undefined);
    await accept(stores, newJob(stores, 200, { bufferMax: 200 }));
  });

  rule("the buffer counts unchecked entries of all owners", async (stores) => {
    await accept(stores, newJob(stores, 600));
    await stores.chunks.complete(await claim(stores), allValid(CHUNK_ENTRIES), at(stores));
    const order = newJob(stores, 400, { owner: STRANGER, bufferMax: 500 });
    await accept(stores, order);
    const ahead = await stores.jobs.queueAhead(stores.clock.nowMs());
    assert.deepEqual(
      ahead.openEntries.toSorted((a, b) => a - b),
      [100, 400],
    );
    assert.equal(ahead.entriesPerSecond, undefined);
  });

  chunkRules(rule);

  rule("a completed batch is taken once, with its counts", async (stores) => {
    const session = await accept(stores, newJob(stores, 200));
    assert.equal(await takeCompleted(stores), undefined);
    await stores.chunks.complete(await claim(stores), allValid(200), at(stores));
    const { tally } = allValid(200);
    assert.deepEqual(await takeCompleted(stores), {
      session,
      owner: ACCOUNT,
      total: 200,
      unique: 200,
      tally,
    });
    assert.equal(await takeCompleted(stores), undefined);
  });

  rule("a batch deleted before it was taken is not announced", async (stores) => {
    const batch = newBatch(stores, 10);
    await stores.jobs.create({ ...batch, outcomes: [allValid(10)] }, termsFor(batch));
    await stores.jobs.remove(batch.session, batch.nowMs);
    assert.equal(await takeCompleted(stores), undefined);
    assert.equal(await stores.unitsUsed(), 10);
  });
}
