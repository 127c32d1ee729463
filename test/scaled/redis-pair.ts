import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Redis } from "ioredis";
import { dayOf } from "../../src/core/calendar.ts";
import type { Clock } from "../../src/ports/process/clock.ts";
import { StoreDown } from "../../src/ports/process/store-down.ts";
import { emptyRedis, type LinkedProcess, linkProcess } from "../contracts/process/redis-link.ts";
import { openStores, type Stores } from "../contracts/stores.ts";
import { type CutLine, openCutLine } from "../services/cut-line.ts";
import type { RedisServer } from "../services/redis.ts";
import { turningClock } from "../time/turning-clock.ts";
import { until } from "../time/until.ts";

/** Two "processes" on one ledger and one Redis, behind the same line and with the same clock. */
export interface RedisPair {
  readonly server: RedisServer;
  readonly line: CutLine;
  /** Runs no faster than this process, and so than the answers it waits for. */
  readonly clock: Clock;
  readonly stores: Stores;
  readonly here: LinkedProcess;
  readonly there: LinkedProcess;
  /** A client without the line. */
  readonly admin: (work: (client: Redis) => Promise<unknown>) => Promise<void>;
}

export async function openPair(t: TestContext, server: RedisServer): Promise<RedisPair> {
  await emptyRedis(server.url);
  const stores = await openStores(t);
  const line = await openCutLine(server.port);
  t.after(() => line.close());
  const url = `redis://127.0.0.1:${String(line.port)}`;
  const { clock, stop } = turningClock();
  const here = await linkProcess(t, url, stores, { clock });
  const there = await linkProcess(t, url, stores, { clock });
  t.after(stop); // the last to end, because closing may wait for it
  // A start waits only briefly, and a busy machine may be slower.
  await bothUp({ here, there });
  const admin = async (work: (client: Redis) => Promise<unknown>): Promise<void> => {
    const client = new Redis(server.url);
    await work(client);
    client.disconnect();
  };
  return { server, line, clock, stores, here, there, admin };
}

/** How many of `times` parallel single units are granted by each of the processes together. */
export async function grantedBy(
  processes: readonly LinkedProcess[],
  { owner, daily, times, nowMs }: { owner: string; daily: number; times: number; nowMs: number },
): Promise<number> {
  const limits = { daily, monthly: null };
  const takings = processes.flatMap(({ link }) =>
    Array.from({ length: times }, async () => link.quotas.take(owner, 1, limits, nowMs)),
  );
  const answers = await Promise.all(takings);
  return answers.filter(({ kind }) => kind === "taken").length;
}

/** Resolves when both are up. */
export const bothUp = ({ here, there }: Pick<RedisPair, "here" | "there">): Promise<true> =>
  until(() => here.link.isUp() && there.link.isUp(), { what: "Redis on both sides" });

/** Breaks something and restores it. */
export interface Fault {
  readonly name: string;
  readonly breakIt: (pair: RedisPair) => Promise<void> | void;
  readonly mendIt: (pair: RedisPair) => Promise<void> | void;
}

/** A day's units through a fault: never above the limit, none lost, automatic recovery. */
export async function ridesOut(pair: RedisPair, { breakIt, mendIt }: Fault): Promise<void> {
  const { here, there, stores, clock } = pair;
  const nowMs = stores.clock.nowMs();
  const order = { owner: "bucket:192.0.2.1", daily: 10, nowMs };
  assert.equal(await grantedBy([here], { ...order, times: 3 }), 3);
  assert.equal(await grantedBy([there], { ...order, times: 2 }), 2);
  await breakIt(pair);
  const brokenAtMs = clock.monotonicMs();
  assert.equal(await grantedBy([here], { ...order, times: 2 }), 2, "single checks still work");
  assert.ok(clock.monotonicMs() - brokenAtMs < 1_500, "no request waits for a dead Redis");
  const limits = { daily: 10, monthly: null };
  await assert.rejects(
    async () => here.link.quotas.hold(order.owner, 1, limits, nowMs),
    (fault) => fault instanceof StoreDown && fault.store === "redis",
  );
  const rates = await Promise.all(
    [1, 2, 3].map(async () => here.link.rates.take("sign-in:a", 2, 0)),
  );
  assert.equal(rates.filter(({ isGranted }) => isGranted).length, 2, "the rate is still limited");
  await mendIt(pair);
  await bothUp(pair);
  assert.equal(await grantedBy([here, there], { ...order, times: 10 }), 3, "exactly what is left");
  await Promise.all([here.link.quotas.flush(), there.link.quotas.flush()]);
  const used = await stores.usage.unitsUsed(order.owner, dayOf(nowMs));
  assert.equal(used.inDay, 10, "the ledger holds what was granted");
  // Once for each outage; on a busy machine Redis may be away more often than the test's outages.
  assert.match(here.log.lines.join(" "), /^(?:warn redis\.unavailable info redis\.available ?)+$/);
}
