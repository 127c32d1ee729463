import assert from "node:assert/strict";
import { test } from "node:test";
import { SESSION_LIFE_MS } from "../../../src/bulk/jobs/pack-batch.ts";
import {
  accept,
  allValid,
  type BulkStores,
  newBatch,
  newJob,
  takeCompleted,
  termsFor,
} from "./bulk-stores.ts";
import { pruneSessions } from "../../../src/bulk/jobs/housekeeping.ts";
import type { Make } from "../contract.ts";

export function sessionStoreContract(name: string, make: Make<BulkStores>): void {
  const rule = (sentence: string, check: (stores: BulkStores) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };

  rule("a saved batch is charged and can be read", async (stores) => {
    const batch = newBatch(stores, 3);
    const charge = await stores.jobs.create({ ...batch, outcomes: [allValid(3)] }, termsFor(batch));
    assert.equal(charge.kind, "accepted");
    assert.equal(await stores.unitsUsed(), 3);
    assert.deepEqual(await stores.sessions.find(batch.session, batch.nowMs), {
      session: batch.session,
      owner: "account:a1",
      clientAddress: "192.0.2.1",
      origin: "sync",
      state: "completed",
      isRunning: false,
      charged: 3,
      total: 3,
      unique: 3,
      processed: 3,
      tally: allValid(3).tally,
      chunks: 1,
      chunksDone: 1,
      expiresAtMs: batch.nowMs + SESSION_LIFE_MS,
    });
    const { results, valid } = allValid(3);
    assert.deepEqual(await stores.sessions.lines(batch.session, 0, "valid"), valid);
    assert.deepEqual(
      await stores.sessions.checked(batch.session, 0),
      valid.map((spelling, at) => ({ spelling, result: results[at] })),
    );
  });

  rule("an unpaid batch leaves nothing; `payable` reports it beforehand", async (stores) => {
    const batch = newBatch(stores, 3);
    const terms = termsFor(batch, { limits: { daily: 2, monthly: null } });
    assert.deepEqual(await stores.jobs.payable(terms), { kind: "unpaid", by: "day" });
    assert.deepEqual(await stores.jobs.create({ ...batch, outcomes: [allValid(3)] }, terms), {
      kind: "unpaid",
      by: "day",
    });
    assert.equal(await stores.sessions.find(batch.session, batch.nowMs), undefined);
    assert.equal(await stores.unitsUsed(), 0);
  });

  rule("`payable` charges nothing, from the plan or from credits", async (stores) => {
    const batch = newBatch(stores, 3);
    await stores.credits.grant("a1", 3, "test");
    const credits = termsFor(batch, { purses: "credits" });
    for (const terms of [termsFor(batch), credits, credits]) {
      assert.equal(await stores.jobs.payable(terms), undefined);
    }
    const dear = { ...credits, units: 4 };
    assert.deepEqual(await stores.jobs.payable(dear), { kind: "unpaid", by: "rate" });
    assert.equal(await stores.unitsUsed(), 0);
    assert.equal((await stores.credits.entries("a1", 10)).length, 1);
  });

  rule("results live exactly 15 minutes", async (stores) => {
    const batch = newBatch(stores, 3);
    await stores.jobs.create({ ...batch, outcomes: [allValid(3)] }, termsFor(batch));
    const endMs = batch.nowMs + SESSION_LIFE_MS;
    assert.ok((await stores.sessions.find(batch.session, endMs - 1)) !== undefined);
    assert.equal(await stores.sessions.find(batch.session, endMs), undefined);
  });

  rule("pruning deletes expired sessions completely, and no other", async (stores) => {
    const { jobs, sessions } = stores;
    const old = Array.from({ length: 45 }, () => newBatch(stores, 1));
    for (const batch of old)
      await jobs.create({ ...batch, outcomes: [allValid(1)] }, termsFor(batch));
    while ((await takeCompleted(stores)) !== undefined);
    stores.clock.advance(SESSION_LIFE_MS);
    const young = newBatch(stores, 1);
    await jobs.create({ ...young, outcomes: [allValid(1)] }, termsFor(young));
    const running = await accept(stores, newJob(stores, 200));
    assert.equal(await pruneSessions(stores.sql.db, stores.clock.nowMs()), 45);
    assert.equal(await sessions.chunk(old[0]?.session ?? "", 0), undefined);
    assert.ok((await sessions.chunk(young.session, 0)) !== undefined);
    assert.ok((await sessions.chunk(running, 0)) !== undefined);
    assert.equal(await pruneSessions(stores.sql.db, stores.clock.nowMs()), 0);
  });

  rule("a table's rows come back with their entries", async (stores) => {
    const table = {
      header: ["name", "email"],
      delimiter: ";",
      pages: [
        {
          cells: Buffer.from('[["Ann","d0.example"],["Nobody",""]]'),
          entries: Int32Array.from([0, -1]),
        },
        { cells: Buffer.from('[["Bob","d1.example"]]'), entries: Int32Array.from([1]) },
      ],
    };
    const batch = newBatch(stores, 2, { table });
    await stores.jobs.create({ ...batch, outcomes: [allValid(2)] }, termsFor(batch));
    const found = await stores.sessions.find(batch.session, batch.nowMs);
    assert.deepEqual(found?.table, { header: ["name", "email"], delimiter: ";", pages: 2 });
    assert.deepEqual(await stores.sessions.page(batch.session, 0), {
      rows: [
        ["Ann", "d0.example"],
        ["Nobody", ""],
      ],
      entries: [0, -1],
    });
    assert.deepEqual(await stores.sessions.page(batch.session, 1), {
      rows: [["Bob", "d1.example"]],
      entries: [1],
    });
    assert.equal(await stores.sessions.page(batch.session, 2), undefined);
  });
}

export function retryKeysContract(name: string, make: Make<BulkStores>): void {
  const rule = (sentence: string, check: (stores: BulkStores) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };
  const begin = (stores: BulkStores, bodyHash = "b1", owner = "account:a1") =>
    stores.idempotencyKeys.begin({
      owner,
      key: "k1",
      bodyHash,
      nowMs: stores.clock.nowMs(),
      lockMs: 70_000,
    });

  rule(
    "a parallel repetition is in flight, another body is different, another owner has another key",
    async (stores) => {
      assert.equal((await begin(stores)).kind, "new");
      assert.equal((await begin(stores)).kind, "in_flight");
      assert.equal((await begin(stores, "b2")).kind, "other_body");
      assert.equal((await begin(stores, "b2", "bucket:192.0.2.7")).kind, "new");
    },
  );

  rule("a released or long-dead request does not block its key", async (stores) => {
    const first = await begin(stores);
    assert.ok(first.kind === "new");
    await stores.idempotencyKeys.release("account:a1", "k1", first.token);
    assert.equal((await begin(stores, "b2")).kind, "new");
    stores.clock.advance(70_000);
    assert.equal((await begin(stores, "b3")).kind, "new");
    await stores.idempotencyKeys.release("account:a1", "k1", first.token);
    assert.equal((await begin(stores, "b3")).kind, "in_flight", "an old token releases nothing");
  });

  rule("a start alone ends all locks", async (stores) => {
    await begin(stores);
    await stores.idempotencyKeys.releaseAll();
    assert.equal((await begin(stores)).kind, "new");
  });

  rule("the answer is kept with the session and until it ends", async (stores) => {
    const opened = await begin(stores);
    assert.ok(opened.kind === "new");
    const keep = { key: "k1", token: opened.token, answer: "the answer" };
    const batch = newBatch(stores, 3, { keep });
    await stores.jobs.create({ ...batch, outcomes: [allValid(3)] }, termsFor(batch));
    await stores.idempotencyKeys.release("account:a1", "k1", opened.token);
    assert.deepEqual(await begin(stores), { kind: "kept", answer: "the answer" });
    assert.equal((await begin(stores, "b2")).kind, "other_body");
    stores.clock.advance(SESSION_LIFE_MS);
    assert.equal((await begin(stores, "b2")).kind, "new");
  });

  rule("the answer of a job is kept while it runs, and deleted with it", async (stores) => {
    const opened = await begin(stores);
    assert.ok(opened.kind === "new");
    const keep = { key: "k1", token: opened.token, answer: "queued" };
    const session = await accept(stores, newJob(stores, 200, { keep }));
    stores.clock.advance(10 * SESSION_LIFE_MS);
    assert.equal((await begin(stores)).kind, "kept");
    await stores.jobs.remove(session, stores.clock.nowMs());
    assert.equal((await begin(stores, "b2")).kind, "new");
  });
}
