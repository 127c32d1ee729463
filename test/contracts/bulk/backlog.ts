import assert from "node:assert/strict";
import { test } from "node:test";
import { readBacklog } from "../../../src/bulk/jobs/jobs.ts";
import { CHUNK_ENTRIES } from "../../../src/core/batch/batch-chunk.ts";
import { accept, allValid, type BulkStores, claim, newJob } from "./bulk-stores.ts";
import type { Make } from "../contract.ts";

/** What the metrics show of waiting work. */
export function backlogContract(name: string, make: Make<BulkStores>): void {
  test(`${name}: chunks of a dead worker wait for another when its lease ends`, async (t) => {
    const stores = await make(t);
    const { clock, chunks, sql } = stores;
    const figures = async () => {
      const { waitingChunks, leasedChunks, entries } = await readBacklog(sql.db, clock.nowMs());
      return { waitingChunks, leasedChunks, entries };
    };
    assert.deepEqual(await figures(), { waitingChunks: 0, leasedChunks: 0, entries: 0 });
    await accept(stores, newJob(stores, 3 * CHUNK_ENTRIES));
    const left = 2 * CHUNK_ENTRIES;
    const done = { nowMs: clock.nowMs(), conclusive: true };
    await chunks.complete(await claim(stores), allValid(CHUNK_ENTRIES), done);
    await claim(stores);
    assert.deepEqual(await figures(), { waitingChunks: 1, leasedChunks: 1, entries: left });
    clock.advance(3_000);
    assert.deepEqual(await figures(), { waitingChunks: 2, leasedChunks: 0, entries: left });
  });
}
