import { strict as assert } from "node:assert";
import { test } from "node:test";
import { CHUNK_ENTRIES } from "../../core/batch/batch-chunk.ts";
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
import type { BulkStats } from "./bulk-shapes.ts";
import { until } from "../../../test/time/until.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { createDnsLookup } from "../../dns/lookup.ts";
import { noResolver } from "../../dns/resolver.ts";
import { switchedCheck } from "../../../test/bulk/switched-check.ts";

const submit = async (world: BulkWorld, count: number): Promise<string> =>
  sessionOf(await world.bulk.submit(admittedAs(STARTER), listOf(domains(count))));

async function finished(world: BulkWorld, session: string): Promise<BulkStats> {
  return until(async () => {
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "list" ? view.stats : undefined;
  });
}

test("DNS that is down for a minute changes only the time", async (t) => {
  const dns = switchedCheck();
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check: dns.check });
  dns.isDown = true;
  const session = await submit(world, 1_200);
  const worker = world.worker();
  worker.start();
  let postponed = 0;
  for (let seconds = 0; seconds < 60; seconds += 2) {
    await until(() => worker.figures().postponed > postponed || undefined);
    ({ postponed } = worker.figures());
    world.stores.clock.advance(2_000);
  }
  dns.isDown = false;
  const stats = await until(async () => {
    world.stores.clock.advance(2_000);
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "list" ? view.stats : undefined;
  });
  assert.deepEqual([stats.valid, stats.invalid_dns], [1_200, 0]);
  assert.equal(await world.stores.unitsUsed(), 1_200);
});

test("while DNS is down one chunk at a time finds out", async (t) => {
  const dns = switchedCheck();
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check: dns.check });
  dns.isDown = true;
  const entries = 25_000;
  await submit(world, entries);
  world.worker().start();
  await until(() => dns.asked > 0 || undefined);
  const looks = 5;
  for (let look = 0; look < looks; look += 1) {
    world.stores.clock.advance(2_000);
    for (let turns = 0; turns < 200; turns += 1) await new Promise((next) => setImmediate(next));
  }
  // At most all that was under way when the first chunk came back, and then one chunk a look; each entry may be
  // asked about twice. Were every chunk to look for itself, it would be six times all of them.
  assert.ok(dns.asked <= 2 * (entries + looks * CHUNK_ENTRIES), String(dns.asked));
});

test("DNS that stays down is inconclusive after two minutes", async (t) => {
  const dns = switchedCheck();
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check: dns.check });
  dns.isDown = true;
  const session = await submit(world, 1_200);
  world.worker().start();
  const startMs = world.stores.clock.nowMs();
  const stats = await until(async () => {
    world.stores.clock.advance(2_000);
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "summary" ? view.summary : undefined;
  });
  assert.equal(stats.invalid_dns, 1_200);
  assert.ok(world.stores.clock.nowMs() - startMs >= 120_000);
});

test("a name that stays silent alone is inconclusive at once, after a second question", async (t) => {
  const asked: string[] = [];
  const lookup = mailEverywhere((name) => {
    asked.push(name);
    return name === "d7.example";
  });
  const world = await bulkWorld(t, { lookup });
  const session = await submit(world, 200);
  world.worker().start();
  const stats = await finished(world, session);
  assert.deepEqual([stats.valid, stats.invalid_dns], [199, 1]);
  assert.equal(asked.filter((name) => name === "d7.example").length, 2);
});

test("names that went silent together, while all others were answered, are asked again", async (t) => {
  let silentMs = 0;
  const lookup = mailEverywhere((name) => silentMs === 20 && name.endsWith("7.example"));
  let begun = 0;
  const room = (): undefined => {
    begun += 1;
    if (begun === 100) silentMs += 20; // the silence begins and ends while the chunk is checked
    return undefined;
  };
  const world = await bulkWorld(t, { lookup, room, silentMs: () => silentMs });
  const session = await submit(world, 200);
  const worker = world.worker();
  worker.start();
  await until(() => worker.figures().postponed === 1 || undefined);
  silentMs += 20;
  const stats = await until(async () => {
    world.stores.clock.advance(2_000);
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "list" ? view.stats : undefined;
  });
  assert.deepEqual([stats.valid, stats.invalid_dns], [200, 0]);
});

test("without DNS a list of 1,823 names is done at once", async (t) => {
  const world = await bulkWorld(t, {
    lookup: { ...mailEverywhere(), ...createDnsLookup(noResolver, { clock: manualClock() }) },
    isDnsOff: true,
    dnsAnswers: () => assert.fail("asked"),
  });
  const session = await submit(world, 1_823);
  world.worker().start();
  const summary = await until(async () => {
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "summary" ? view.summary : undefined;
  });
  assert.equal(summary.invalid_dns, 1_823);
});

test("silence of some names while DNS is down is not an answer yet", async (t) => {
  let isDown = true;
  const lookup = mailEverywhere((name) => isDown && name.endsWith("7.example"));
  const world = await bulkWorld(t, { lookup, dnsAnswers: () => Promise.resolve(!isDown) });
  const session = await submit(world, 200);
  world.worker().start();
  for (let turns = 0; turns < 200; turns += 1) await new Promise((next) => setImmediate(next));
  isDown = false;
  const stats = await until(async () => {
    world.stores.clock.advance(2_000);
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "list" ? view.stats : undefined;
  });
  assert.deepEqual([stats.valid, stats.invalid_dns], [200, 0]);
});
