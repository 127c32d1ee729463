import "../one-thread.ts";
import type { TestContext } from "node:test";
import type { Redis } from "ioredis";
import type { Awaitable } from "../../../src/core/mail/lookup.ts";
import { chargesContract } from "../../contracts/admission/charges.ts";
import { quotaCounterContract } from "../../contracts/admission/quota-counter.ts";
import { rateCounterContract } from "../../contracts/admission/rate-counter.ts";
import { ticketsContract } from "../../contracts/bulk/tickets.ts";
import { noticesContract } from "../../contracts/process/notices.ts";
import { linkProcess } from "../../contracts/process/redis-link.ts";
import { addAccount, openStores } from "../../contracts/stores.ts";
import { manualClock } from "../../time/manual-clock.ts";
import { Chance } from "../chance.ts";
import { quiet } from "../one-thread.ts";
import { newLife, Timeline } from "../timeline.ts";
import { SimulatedRedis } from "./simulated-redis.ts";

/** A simulated Redis whose time goes on by itself until the test ends. */
function openWorld(t: TestContext) {
  const timeline = new Timeline();
  const redis = new SimulatedRedis(timeline, new Chance(5));
  const state = { isOver: false };
  t.after(() => (state.isOver = true));
  void (async () => {
    while (!state.isOver) {
      await quiet();
      timeline.step();
    }
  })();
  const life = newLife("one");
  return { timeline, redis, life, clock: timeline.clockOf(life) };
}

/** Counters of two processes; a voided counter settles at once. */
async function openLinked(t: TestContext, timeMs?: () => number) {
  const { redis, life, clock, timeline } = openWorld(t);
  const stores = await openStores(t);
  let aheadMs = 0;
  const time = timeMs ?? ((): number => timeline.beganMs + Math.floor(timeline.nowMs) + aheadMs);
  const connect = (): Redis => redis.connect(life) as unknown as Redis;
  const link = () => linkProcess(t, "redis://redis.test", stores, { clock, connect, timeMs: time });
  redis.keys.set(`gatepost:${redis.runId.slice(0, 16)}:since`, "0");
  const settled = async (work: () => Awaitable<void>): Promise<void> => {
    await work();
    aheadMs += 1_000;
  };
  return { stores, here: await link(), there: await link(), settled };
}

const NAME = "the simulated Redis";

quotaCounterContract(NAME, async (t) => {
  const { stores, here, there, settled } = await openLinked(t);
  const { quotas } = here.link;
  return {
    counter: {
      take: (...terms) => quotas.take(...terms),
      giveBack: (...units) => quotas.giveBack(...units),
      hold: (...terms) => quotas.hold(...terms),
      keep: (hold) => quotas.keep(hold),
      drop: (hold) => quotas.drop(hold),
      refunded: (owner) => settled(() => quotas.refunded(owner)),
    },
    ledger: stores.usage,
    clock: stores.clock,
    restart: () => there.link.quotas,
    flushed: () => quotas.flush(),
  };
});

chargesContract(NAME, async (t) => {
  const { stores, here, settled } = await openLinked(t);
  const { charges, link } = here;
  return {
    ...stores,
    charges: { ...charges, refund: (...terms) => settled(() => charges.refund(...terms)) },
    counter: link.quotas,
    account: (balance) => addAccount(stores, balance),
    nowMs: stores.clock.nowMs(),
  };
});

rateCounterContract(NAME, async (t) => {
  const clock = manualClock();
  const { here } = await openLinked(t, () => clock.monotonicMs());
  return { counter: here.link.rates, clock };
});

noticesContract(NAME, async (t) => {
  const { here, there } = await openLinked(t);
  return { here: here.link.notices, there: there.link.notices };
});

ticketsContract(NAME, (t) => {
  const { redis, life, clock } = openWorld(t);
  return Promise.resolve({
    queue: redis.openQueue(life, clock),
    worker: (name) => redis.openTickets({ ...life, name }, clock),
    empty: () => Promise.resolve(redis.restart(0)),
  });
});
