import assert from "node:assert/strict";
import { test } from "node:test";
import { endRestored } from "../../../src/bulk/jobs/housekeeping.ts";
import { Deliveries } from "../../../src/webhooks/webhooks-store.ts";
import { CHUNK_ENTRIES } from "../../../src/core/batch/batch-chunk.ts";
import { delivery } from "../webhooks/stored-delivery.ts";
import { DELIVERY_LIMITS } from "../../../src/webhooks/dispatcher.ts";
import { accept, allValid, type BulkStores, claim, newJob, takeCompleted } from "./bulk-stores.ts";
import type { Make } from "../contract.ts";

/** What settling does to a restored database, on either engine. */
export function restoredContract(name: string, make: Make<BulkStores>): void {
  const rule = (sentence: string, check: (stores: BulkStores) => Promise<void>): void => {
    test(`${name}: restored: ${sentence}`, async (t) => check(await make(t)));
  };

  rule(
    "a running batch fails, pays for checked entries only, and the owner may submit again",
    async (stores) => {
      const session = await accept(stores, newJob(stores, 1_200));
      await stores.chunks.complete(await claim(stores), allValid(CHUNK_ENTRIES), at(stores));
      assert.deepEqual(await settle(stores), { jobs: 1, webhooks: 0, signIns: 0 });
      assert.equal(await stores.unitsUsed(), CHUNK_ENTRIES);
      assert.equal((await stores.sessions.find(session, nowOf(stores)))?.state, "failed");
      await accept(stores, newJob(stores, 10));
    },
  );

  rule("a worker with one of its chunks is too late", async (stores) => {
    await accept(stores, newJob(stores, 10));
    const chunk = await claim(stores);
    await settle(stores);
    assert.equal(await stores.chunks.complete(chunk, allValid(10), at(stores)), "late");
    assert.equal(await stores.unitsUsed(), 0);
  });

  rule("a completed batch stays readable and is not announced", async (stores) => {
    const session = await accept(stores, newJob(stores, 10));
    await stores.chunks.complete(await claim(stores), allValid(10), at(stores));
    assert.deepEqual(await settle(stores), { jobs: 0, webhooks: 1, signIns: 0 });
    assert.equal(await takeCompleted(stores), undefined);
    assert.equal((await stores.sessions.find(session, nowOf(stores)))?.state, "completed");
    assert.equal(await stores.unitsUsed(), 10);
  });

  rule("webhooks that waited or were being sent are not sent", async (stores) => {
    const deliveries = new Deliveries(stores.sql.db);
    for (const id of ["d1", "d2"]) {
      const row = delivery(id, "a1", { queued_at_ms: nowOf(stores) });
      await deliveries.enqueue(row, { waiting: 10 });
    }
    await deliveries.claim(nowOf(stores), DELIVERY_LIMITS, "d1");
    assert.deepEqual(await settle(stores), { jobs: 0, webhooks: 2, signIns: 0 });
    assert.deepEqual(await deliveries.claim(nowOf(stores), DELIVERY_LIMITS), []);
    const log = await deliveries.list("a1", 10);
    assert.deepEqual(
      log.map(({ state }) => state),
      ["interrupted", "interrupted"],
    );
  });

  rule("every browser is signed out", async (stores) => {
    await stores.sql.db
      .insertInto("login_sessions")
      .values({
        id: "s1",
        account_id: "a1",
        token_hash: "0".repeat(64),
        created_at_ms: nowOf(stores),
        last_seen_at_ms: nowOf(stores),
        expires_at_ms: nowOf(stores) + 1_000,
        client_address: "192.0.2.1",
        user_agent: "",
      })
      .execute();
    assert.equal((await settle(stores)).signIns, 1);
  });

  rule("a second time changes nothing", async (stores) => {
    await accept(stores, newJob(stores, 200));
    await settle(stores);
    assert.deepEqual(await settle(stores), { jobs: 0, webhooks: 0, signIns: 0 });
    assert.equal(await stores.unitsUsed(), 0);
  });
}

const nowOf = ({ clock }: BulkStores): number => clock.nowMs();
const at = (stores: BulkStores) => ({ nowMs: nowOf(stores), conclusive: true });
const settle = (stores: BulkStores) => endRestored(stores.sql.db, nowOf(stores));
