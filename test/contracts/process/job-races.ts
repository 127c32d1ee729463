import assert from "node:assert/strict";
import { CHUNK_ENTRIES } from "../../../src/core/batch/batch-chunk.ts";
import type { ClaimedChunk } from "../../../src/bulk/jobs/chunk-queue.ts";
import {
  accept,
  allValid,
  newBatch,
  newJob,
  STRANGER,
  takeCompleted,
  termsFor,
} from "../bulk/bulk-stores.ts";
import { PROCESSES, type Race, unitsUsed, everywhere } from "./rivals.ts";

/** About jobs and their chunks. */
export const jobRaces: Readonly<Record<string, Race>> = {
  "exactly one of an owner's jobs from all processes is accepted and charged": async (rivals) => {
    const outcomes = await everywhere(rivals, 3, (stores) => {
      const order = newJob(stores, 200);
      return stores.jobs.create(order, termsFor(order));
    });
    const kinds = outcomes.map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === "accepted").length, 1);
    assert.equal(kinds.filter((kind) => kind === "running").length, PROCESSES * 3 - 1);
    assert.equal(await unitsUsed(rivals), 200);
  },
  "jobs of different owners never exceed the buffer": async (rivals) => {
    const outcomes = await everywhere(rivals, 2, (stores, turn) => {
      const owner = { kind: "bucket", bucket: `192.0.2.${String(turn)}` } as const;
      const order = newJob(stores, 200, { owner, bufferMax: 700 });
      return stores.jobs.create(order, termsFor(order));
    });
    assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), [
      ...Array<string>(3).fill("accepted"),
      ...Array<string>(5).fill("full"),
    ]);
  },
  "each chunk goes to one claimer, and none is skipped": async (rivals) => {
    const { first } = rivals;
    await accept(first, newJob(first, 20 * CHUNK_ENTRIES));
    await accept(first, newJob(first, 12 * CHUNK_ENTRIES, { owner: STRANGER }));
    const claimed = await everywhere(rivals, 8, ({ chunks, clock }, turn) =>
      chunks.claim(
        { worker: `w${String(turn)}`, nowMs: clock.nowMs(), leaseMs: 3_000 },
        `t${String(turn)}`,
      ),
    );
    const names = claimed.map((chunk) => `${chunk?.session ?? "none"} ${String(chunk?.number)}`);
    assert.equal(new Set(names).size, 32);
  },
  "a chunk held by two workers, one of them suspended, is stored once": async (rivals) => {
    const { first } = rivals;
    const session = await accept(first, newJob(first, 2 * CHUNK_ENTRIES));
    const holders: ClaimedChunk[] = [];
    for (const [at, { chunks, clock }] of rivals.all.entries()) {
      const lease = { worker: `w${String(at)}`, nowMs: clock.nowMs(), leaseMs: 1_000 };
      const chunk = await chunks.claim(lease, `t${String(at)}`);
      if (chunk?.number === 0) holders.push(chunk);
      first.clock.advance(1_000);
    }
    assert.equal(holders.length, PROCESSES);
    const done = { nowMs: first.clock.nowMs(), conclusive: true };
    const answers = await Promise.all(
      holders.map((chunk, at) =>
        (rivals.all[at] ?? first).chunks.complete(chunk, allValid(CHUNK_ENTRIES), done),
      ),
    );
    assert.deepEqual(answers.toSorted(), ["late", "late", "late", "stored"]);
    const found = await first.sessions.find(session, first.clock.nowMs());
    assert.equal(found?.processed, CHUNK_ENTRIES);
  },
  "a job removed while its chunks are stored charges only chunks that were begun": async (
    rivals,
  ) => {
    const { first } = rivals;
    const session = await accept(first, newJob(first, 20 * CHUNK_ENTRIES));
    const nowMs = first.clock.nowMs();
    const held = await everywhere(rivals, 2, ({ chunks }, turn) =>
      chunks.claim({ worker: `w${String(turn)}`, nowMs, leaseMs: 3_000 }, `t${String(turn)}`),
    );
    const done = { nowMs, conclusive: true };
    const storing = held.map((chunk, at) => {
      assert.ok(chunk !== undefined);
      const { chunks } = rivals.all[at % PROCESSES] ?? first;
      return chunks.complete(chunk, allValid(CHUNK_ENTRIES), done);
    });
    const [removed, ...answers] = await Promise.all([
      first.jobs.remove(session, nowMs),
      ...storing,
    ]);
    assert.equal(removed, true);
    assert.equal(await unitsUsed(rivals), answers.length * CHUNK_ENTRIES);
  },
  "a stuck job is failed and refunded once by all processes at once": async (rivals) => {
    const { first } = rivals;
    await accept(first, newJob(first, 200));
    await first.sql.db.updateTable("chunks").set({ claims: 10 }).execute();
    const failed = await everywhere(rivals, 2, ({ jobs, clock }) => jobs.failStuck(clock.nowMs()));
    assert.equal(
      failed.reduce((sum, count) => sum + count, 0),
      1,
    );
    assert.equal(await unitsUsed(rivals), 0);
  },
  "every completed batch is taken once, and no taker misses the remaining ones": async (rivals) => {
    const { first } = rivals;
    for (let at = 0; at < PROCESSES * 2; at += 1) {
      const owner = { kind: "bucket", bucket: `192.0.2.${String(at)}` } as const;
      const batch = newBatch(first, 3, { owner });
      await first.jobs.create({ ...batch, outcomes: [allValid(3)] }, termsFor(batch));
    }
    const taken = await everywhere(rivals, 2, takeCompleted);
    assert.equal(new Set(taken.map((batch) => batch?.session)).size, PROCESSES * 2);
    assert.equal(taken.includes(undefined), false);
  },
};
