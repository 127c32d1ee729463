import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sql } from "kysely";
import {
  bulkWorld,
  type BulkWorld,
  domains,
  admittedAs,
  listOf,
  mailEverywhere,
  sessionOf,
  STARTER,
} from "../../../test/bulk/bulk-world.ts";
import type { EntryCheck } from "./entry-check.ts";
import { until } from "../../../test/time/until.ts";
import { switchedCheck } from "../../../test/bulk/switched-check.ts";

const submit = async (world: BulkWorld, count: number): Promise<string> =>
  sessionOf(await world.bulk.submit(admittedAs(STARTER), listOf(domains(count))));

test("a check that breaks on one entry fails the job in the end, and pays back", async (t) => {
  const good = switchedCheck();
  const check: EntryCheck = (entry, options) =>
    entry === "d600.example" ? Promise.reject(new Error("a bug")) : good.check(entry, options);
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check });
  const session = await submit(world, 1_200);
  world.worker().start();
  const progress = await until(async () => {
    world.stores.clock.advance(1_000);
    await world.stores.jobs.failStuck(world.stores.clock.nowMs());
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "progress" && view.progress.status === "failed"
      ? view.progress
      : undefined;
  });
  // Some of the 499 others of the chunk that failed were answered, although nothing of it is kept or charged.
  const { processed_count: processed = 0 } = progress;
  assert.ok(processed >= 700 && processed <= 1_199, String(processed));
  assert.equal(await world.stores.unitsUsed(), 700);
  assert.deepEqual(world.events, []);
});

test("where DNS is switched off a list waits for no answer", async (t) => {
  const world = await bulkWorld(t, { lookup: mailEverywhere(() => true), isDnsOff: true });
  const session = await submit(world, 1_200);
  world.worker().start();
  await until(async () => (await world.bulk.view(STARTER, session)).kind !== "progress");
});

test("a chunk that another worker has by now is given up, and nothing of it is stored", async (t) => {
  const good = switchedCheck();
  let asked = 0;
  const check: EntryCheck = (entry, options) => {
    asked += 1;
    return good.check(entry, options);
  };
  const waiting: (() => void)[] = [];
  const room = () => new Promise<void>((resolve) => void waiting.push(resolve));
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check, room });
  await submit(world, 150);
  const worker = world.worker();
  worker.start();
  await until(() => waiting.length > 0 || undefined);
  const { clock, chunks } = world.stores;
  await chunks.freeAll(clock.nowMs() + 3_600_000);
  clock.advance(5_000);
  await until(() => {
    waiting.shift()?.();
    return worker.figures().late === 1 || undefined;
  });
  assert.ok(asked < 150, String(asked));
  assert.deepEqual([worker.figures().stored, worker.figures().inUse], [0, 0]);
});

test("a worker that stops hands its chunks back, and another ends the job", async (t) => {
  const never = new Promise<never>(() => undefined);
  const stuck = await bulkWorld(t, { lookup: mailEverywhere(), check: () => never });
  const session = await submit(stuck, 1_200);
  const first = stuck.worker("w1");
  first.start();
  await until(async () => {
    const view = await stuck.bulk.view(STARTER, session);
    return (view.kind === "progress" && view.progress.status === "processing") || undefined;
  });
  await first.stop();
  const { clock, chunks } = stuck.stores;
  const chunk = await chunks.claim({ worker: "w2", nowMs: clock.nowMs(), leaseMs: 3_000 }, "t2");
  assert.equal(chunk?.number, 0, "at once, without waiting for a lease to end");
});

test("a full disk loses nothing: the job continues when there is room again", async (t) => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const { check } = switchedCheck();
  const slow: EntryCheck = async (entry, options) => {
    if (entry === "d700.example") await opened;
    return check(entry, options);
  };
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check: slow });
  const { db } = world.stores.sql;
  const session = await submit(world, 1_200);
  world.worker().start();
  await until(async () => {
    const view = await world.bulk.view(STARTER, session);
    return (view.kind === "progress" && view.progress.processed_count === 700) || undefined;
  });
  await sql`pragma max_page_count = 1`.execute(db); // SQLite makes it the pages there are
  let accepted = 0;
  const fill = async (entries: number): Promise<void> => {
    for (let batches = 0; batches < 1_000; batches += 1) {
      await world.bulk.submit(admittedAs(STARTER), listOf(domains(entries)));
      accepted += entries;
    }
  };
  for (const entries of [100, 1]) {
    await assert.rejects(fill(entries), { code: "store_unavailable", status: 503 });
  }
  open();
  await until(() => world.stores.log.lines.includes("error bulk.store_failed") || undefined);
  await sql`pragma max_page_count = 1000000`.execute(db);
  const stats = await until(async () => {
    world.stores.clock.advance(1_000);
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "list" ? view.stats : undefined;
  });
  assert.equal(stats.valid, 1_200);
  assert.equal(await world.stores.unitsUsed(), 1_200 + accepted);
});

test("an owner with a large list does not delay one with a small list", async (t) => {
  const world = await bulkWorld(t, { lookup: mailEverywhere() });
  const big = await submit(world, 25_000);
  const keyless = { owner: { kind: "bucket", bucket: "192.0.2.1" }, tier: "anonymous" } as const;
  const caller = { ...keyless, clientAddress: "192.0.2.1" };
  const small = sessionOf(await world.bulk.submit(admittedAs(caller), listOf(domains(200))));
  world.worker().start();
  await until(async () => {
    const view = await world.bulk.view(caller, small);
    return view.kind === "list" || undefined;
  });
  const view = await world.bulk.view(STARTER, big);
  assert.ok(view.kind === "progress");
  assert.ok((view.progress.processed_count ?? 0) < 15_000);
});
