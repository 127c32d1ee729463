import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Redis } from "ioredis";
import { memoryNotices } from "../../../src/adapters/memory/notices.ts";
import type { Awaitable } from "../../../src/core/mail/lookup.ts";
import { redisTeller } from "../../../src/adapters/redis/teller.ts";
import { systemClock } from "../../../src/adapters/system/clock.ts";
import { TOPICS } from "../../../src/ports/process/notices.ts";
import { manualClock } from "../../time/manual-clock.ts";
import { patientClock } from "../../time/real-clock.ts";
import { until } from "../../time/until.ts";
import { openCutLine } from "../../services/cut-line.ts";
import { withRedis } from "../../services/with-redis.ts";
import { chargesContract } from "../admission/charges.ts";
import { noticesContract } from "./notices.ts";
import { quotaCounterContract } from "../admission/quota-counter.ts";
import { rateCounterContract } from "../admission/rate-counter.ts";
import { asOwnUser, emptyRedis, linkProcess } from "./redis-link.ts";
import { addAccount, countingIds, openStores } from "../stores.ts";

type More = Parameters<typeof linkProcess>[3];

async function openLinkedTo(server: string, t: TestContext, more: More) {
  await emptyRedis(server);
  const url = await asOwnUser(server);
  const stores = await openStores(t);
  const linked = await linkProcess(t, url, stores, more);
  return { url, stores, ...linked };
}

/** Longer than a voided counter settles before it is read again. */
const SETTLED_MS = 1_000;

/** Redis's time for all processes of a test; it jumps forward instead of waiting. */
function leapingTime() {
  let aheadMs = 0;
  return {
    timeMs: () => Date.now() + aheadMs,
    /** Does `work`, then lets every counter settle. */
    settled: async (work: () => Awaitable<void>): Promise<void> => {
      await work();
      aheadMs += SETTLED_MS;
    },
  };
}

noticesContract("memory", () => {
  const here = memoryNotices();
  return Promise.resolve({ here, there: here });
});

withRedis("the contracts on Redis", (server) => {
  const openLinked = (t: TestContext, more: More = {}) => openLinkedTo(server().url, t, more);

  quotaCounterContract("Redis over SQLite", async (t: TestContext) => {
    const { timeMs, settled } = leapingTime();
    const { stores, link, url } = await openLinked(t, { timeMs });
    const other = await linkProcess(t, url, stores, { timeMs });
    const { quotas } = link;
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
      restart: () => other.link.quotas,
      flushed: () => link.quotas.flush(),
    };
  });

  chargesContract("Redis over SQLite", async (t: TestContext) => {
    const { timeMs, settled } = leapingTime();
    const { stores, link, charges } = await openLinked(t, { timeMs });
    return {
      ...stores,
      charges: { ...charges, refund: (...terms) => settled(() => charges.refund(...terms)) },
      counter: link.quotas,
      account: (balance) => addAccount(stores, balance),
      nowMs: stores.clock.nowMs(),
    };
  });

  rateCounterContract("Redis", async (t) => {
    const clock = manualClock();
    const { link } = await openLinked(t, { timeMs: () => clock.monotonicMs() });
    return { counter: link.rates, clock };
  });

  noticesContract("Redis", async (t) => {
    const { stores, link, url } = await openLinked(t);
    const other = await linkProcess(t, url, stores);
    return { here: link.notices, there: other.link.notices };
  });

  test("a lost counter settles from when a process finds Redis empty, not from the first request", async (t) => {
    const { url, stores } = await openLinked(t);
    const client = new Redis(server().url);
    t.after(() => client.disconnect());
    await client.flushall();
    const runId = /^run_id:([0-9a-f]{16})/m.exec(await client.info("server"))?.[1] ?? "";
    const [first, second] = [5_000, 6_000];
    await linkProcess(t, url, stores, { timeMs: () => first });
    await linkProcess(t, url, stores, { timeMs: () => second });
    assert.equal(await client.get(`gatepost:${runId}:since`), String(first));
  });

  test("a request does not wait for a counter that settles: its charge does", async (t) => {
    let nowMs = Date.now();
    // It has settled three calls later.
    const { link } = await openLinked(t, { timeMs: () => (nowMs += 200) });
    const [owner, limits] = ["bucket:one", { ratePerMinute: 30, daily: 5, monthly: null }] as const;
    await link.quotas.refunded(owner);
    const { rate, unit } = await link.requests.take(owner, limits, nowMs);
    assert.deepEqual([rate?.remaining, unit], [29, undefined]);
  });

  test("a database that the server does not have is reported, and no other is used", async (t) => {
    const { stores } = await openLinked(t);
    /** On a busy machine the reason may differ, such as a slow connection. */
    const firstReason = async (): Promise<string> => {
      let heard = (_line: string): void => undefined;
      const said = new Promise<string>((resolve) => (heard = resolve));
      const warn = (event: string, fields: unknown): void => heard(JSON.stringify([event, fields]));
      const log = { info: () => undefined, warn };
      const more = { log, clock: systemClock };
      const { link } = await linkProcess(t, `${server().url}/99`, stores, more);
      assert.equal(await link.answers(), false);
      return said;
    };
    const isNamed = async () => (await firstReason()).includes("ERR DB index is out of range");
    await until(isNamed, { what: "the reason", withinMs: 30_000 });
  });

  test("a process that was cut off is notified of everything when it reconnects", async (t) => {
    const { stores } = await openLinked(t);
    const line = await openCutLine(server().port);
    t.after(() => line.close());
    const { link } = await linkProcess(t, `redis://127.0.0.1:${String(line.port)}`, stores);
    await line.cut();
    const heard = TOPICS.map(
      (topic) => new Promise<void>((resolve) => void link.notices.hear(topic, resolve)),
    );
    await line.mend();
    await Promise.all(heard);
  });

  test("a notice sent during the subscription is received", async (t) => {
    const { stores, link: here } = await openLinked(t);
    const line = await openCutLine(server().port);
    t.after(() => line.close());
    line.loseAnswerTo("subscribe");
    const { link: there } = await linkProcess(t, `redis://127.0.0.1:${String(line.port)}`, stores);
    const heard = new Promise<void>((resolve) => void there.notices.hear("lists", resolve));
    here.notices.tell("lists");
    await heard;
  });

  test("a process starts although Redis refuses subscriptions", async (t) => {
    const { stores, url } = await openLinked(t);
    const client = new Redis(server().url);
    t.after(() => client.disconnect());
    await client.acl("SETUSER", "gatepost", "-subscribe");
    const { link } = await linkProcess(t, url, stores, { clock: systemClock });
    await until(() => link.isUp(), { what: "Redis without notices" });
  });

  test("a command's notices are sent when it ends, each topic once", async (t) => {
    const { url, link } = await openLinked(t);
    const heard: string[] = [];
    link.notices.hear("lists", () => heard.push("lists"));
    const last = new Promise<void>((resolve) => void link.notices.hear("accounts", resolve));
    // A command waits only briefly, and a busy machine may be slower.
    const teller = redisTeller(url, { clock: patientClock, ids: countingIds() });
    for (const topic of ["lists", "lists", "accounts"] as const) teller.tell(topic);
    await teller.close();
    await last;
    assert.deepEqual(heard, ["lists"]);
  });

  for (const how of ["cut", "freeze"] as const) {
    test(`a command ends although Redis does not answer (${how})`, async (t) => {
      const line = await openCutLine(server().port);
      t.after(() => line.close());
      await line[how]();
      const url = `redis://127.0.0.1:${String(line.port)}`;
      const teller = redisTeller(url, { clock: systemClock, ids: countingIds() });
      teller.tell("accounts");
      await teller.close();
    });
  }
});
