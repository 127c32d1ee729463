import { strict as assert } from "node:assert";
import { test } from "node:test";
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
import { until } from "../../../test/time/until.ts";
import type { Caller } from "../../accounts/admission/caller.ts";
import type { BulkWorker } from "./worker.ts";
import { coreEntryCheck } from "./entry-check.ts";
import type { EntryCheck } from "./entry-check.ts";
import { Lane } from "../../dns/transport/lane.ts";
import { noDatasets } from "../../../test/bulk/bulk-world.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";

const accountOf = (accountId: string): Caller => ({
  ...STARTER,
  owner: { kind: "account", accountId },
});

const silentNames = (owner: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `${owner}-${String(at)}.silent.example`).join("\n");

/** Names under silent.example get no answer until they are let go. */
function silentCheck() {
  const lookup = mailEverywhere((name) => name.endsWith("silent.example"));
  const budgets = { budgetMs: 5_000, againBudgetMs: 1_700 };
  const clock = manualClock();
  const real = { datasets: () => noDatasets, lookup, again: lookup, clock, implicitMx: false };
  const checkNow = coreEntryCheck({ ...real, ...budgets });
  const waiting: (() => void)[] = [];
  const underWay = (): number => waiting.length;
  const lane = new Lane<{ readonly by: string | undefined; begin: () => void }>({
    start: ({ begin }) => begin(),
    size: () => 1_000,
  });
  const check: EntryCheck = async (entry, options) => {
    const item = { by: options.by, begin: (): void => undefined };
    await new Promise<void>((resolve) => {
      item.begin = resolve;
      lane.add(item);
    });
    const isSilent = entry.includes("silent");
    if (isSilent) await new Promise<void>((resolve) => waiting.push(resolve));
    lane.over(item, !isSilent);
    lane.release(item);
    return checkNow(entry, options);
  };
  const hasRoom = (owner: string): boolean => lane.room(owner) === undefined;
  const letGo = (): void => waiting.splice(0).forEach((go) => go());
  return { check, hasRoom, underWay, letGo };
}

async function submitFor(world: BulkWorld, owner: string, text: string): Promise<string> {
  return sessionOf(await world.bulk.submit(admittedAs(accountOf(owner)), listOf(text)));
}

/** Resolves when the worker has claimed what it can. */
async function settled(worker: BulkWorker): Promise<void> {
  let taken = -1;
  while (worker.figures().taken > taken) {
    ({ taken } = worker.figures());
    for (let turns = 0; turns < 100; turns += 1) await new Promise((next) => setImmediate(next));
  }
}

for (const attackers of [1, 6, 50]) {
  test(`a list is done while ${String(attackers)} lists behind a silent name server stand still`, async (t) => {
    const dns = silentCheck();
    const world = await bulkWorld(t, {
      lookup: mailEverywhere(),
      check: dns.check,
      hasRoom: dns.hasRoom,
    });
    const worker = world.worker();
    worker.start();
    // One after the other: those that came first must not hold what later ones need.
    for (let at = 0; at < attackers; at += 1) {
      const owner = `s${String(at)}`;
      const before = dns.underWay();
      await submitFor(world, owner, silentNames(owner, attackers === 50 ? 3_000 : 9_900));
      await until(() => dns.underWay() > before || undefined);
      await settled(worker);
    }
    const session = await submitFor(world, "victim", domains(3_000));
    const stats = await until(async () => {
      const view = await world.bulk.view(accountOf("victim"), session);
      return view.kind === "list" ? view.stats : undefined;
    });
    assert.equal(stats.valid, 3_000);
    dns.letGo();
  });
}

test("of fifty long lists four chunks wait for places at once, and a small list's come next", async (t) => {
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const { check: checkNow } = silentCheck();
  const check: EntryCheck = (entry, options) => {
    asked.push(entry);
    return checkNow(entry, options);
  };
  const room = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check, room });
  for (let at = 0; at < 50; at += 1) {
    const list = Array.from({ length: 9_000 }, (_, n) => `l${String(at)}-${String(n)}.example`);
    await submitFor(world, `l${String(at)}`, list.join("\n"));
  }
  const worker = world.worker();
  worker.start();
  await until(() => worker.figures().taken > 0 || undefined);
  await settled(worker);
  const { taken } = worker.figures();
  assert.ok(taken <= 5, String(taken)); // one name of each waits for room, so a fifth may be claimed
  const session = await submitFor(world, "victim", domains(600));
  await until(async () => {
    for (const go of waiting.splice(0)) go();
    const view = await world.bulk.view(accountOf("victim"), session);
    return view.kind === "list" ? true : undefined;
  });
  const ofOthers = asked.filter((entry) => entry.startsWith("l")).length;
  assert.ok(ofOthers < 50 * 500, String(ofOthers)); // less than a chunk of each
});

test("a list behind a silent name server waits by itself, and is done when its time ends", async (t) => {
  const dns = silentCheck();
  const world = await bulkWorld(t, {
    lookup: mailEverywhere(),
    check: dns.check,
    hasRoom: dns.hasRoom,
  });
  const silent = await submitFor(world, "s", silentNames("s", 600));
  const worker = world.worker();
  worker.start();
  await until(() => {
    world.stores.clock.advance(1_000);
    dns.letGo();
    return worker.figures().postponed > 0 || undefined;
  });
  const session = await submitFor(world, "victim", domains(600));
  await until(async () => {
    const view = await world.bulk.view(accountOf("victim"), session);
    return view.kind === "list" ? true : undefined;
  });
  const summary = await until(async () => {
    world.stores.clock.advance(2_000);
    dns.letGo();
    const view = await world.bulk.view(accountOf("s"), silent);
    return view.kind === "summary" ? view.summary : undefined;
  });
  assert.equal(summary.invalid_dns, 600);
});

test("an owner that had enough for long gets chunks as soon as it has room", async (t) => {
  const { check: checkNow } = silentCheck();
  const waiting: (() => void)[] = [];
  const check: EntryCheck = async (entry, options) => {
    // The first chunk never ends, for a chunk that ends is a time to look for another.
    if (entry === "d0.example") await new Promise<never>(() => undefined);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return checkNow(entry, options);
  };
  const hasRoom = (): boolean => waiting.length < 400;
  const world = await bulkWorld(t, { lookup: mailEverywhere(), check, hasRoom });
  const worker = world.worker();
  worker.start();
  await submitFor(world, "a", domains(3_000));
  await until(() => worker.figures().taken > 0 || undefined);
  await settled(worker);
  const { taken } = worker.figures();
  world.stores.clock.advance(250);
  await settled(worker);
  await until(() => {
    for (const go of waiting.splice(0)) go();
    return worker.figures().taken > taken || undefined;
  });
});
