import assert from "node:assert/strict";
import { test } from "node:test";
import { CHUNK_ENTRIES } from "../../../src/core/batch/batch-chunk.ts";
import { accept, allValid, type BulkStores, newJob } from "./bulk-stores.ts";
import type { Make } from "../contract.ts";

const APART_MS = 90_000;
const LEASE_MS = 3_000;

/** What stays right in a job when the machines' clocks differ by 90 s. */
export function clocksApartContract(name: string, make: Make<BulkStores>): void {
  test(`${name}: with different clocks the last worker to claim a chunk stores it, once`, async (t) => {
    const stores = await make(t);
    const { chunks, clock, sessions } = stores;
    const session = await accept(stores, newJob(stores, 2 * CHUNK_ENTRIES));
    const claim = (worker: string, nowMs: number) =>
      chunks.claim({ worker, nowMs, leaseMs: LEASE_MS }, stores.ids.hex32());
    const nowMs = clock.nowMs();
    const behind = [await claim("behind", nowMs), await claim("behind", nowMs)];
    const ahead = [await claim("ahead", nowMs + APART_MS), await claim("ahead", nowMs + APART_MS)];
    assert.equal(await claim("behind", nowMs), undefined, "to the slow clock these leases are new");
    const tokens = behind.flatMap((chunk) => (chunk === undefined ? [] : [chunk.token]));
    await chunks.renew({ worker: "behind", nowMs, leaseMs: LEASE_MS, tokens }, 1);
    const outcomes: string[] = [];
    for (const [at, chunk] of [...behind, ...ahead].entries()) {
      assert.ok(chunk !== undefined);
      const done = { nowMs: at < 2 ? nowMs : nowMs + APART_MS, conclusive: true };
      outcomes.push(await chunks.complete(chunk, allValid(CHUNK_ENTRIES), done));
    }
    assert.deepEqual(outcomes, ["late", "late", "stored", "finished"]);
    const found = await sessions.find(session, nowMs);
    assert.equal(found?.tally.valid, 2 * CHUNK_ENTRIES);
    assert.equal(await stores.unitsUsed(), 2 * CHUNK_ENTRIES);
  });
}
