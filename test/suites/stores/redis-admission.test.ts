import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { InjectOptions } from "fastify";
import { Redis } from "ioredis";
import { sqlKeys } from "../../../src/adapters/sql/account/keys.ts";
import { dayOf } from "../../../src/core/calendar.ts";
import { accountKey } from "../../../src/ports/admission/owner.ts";
import { hashApiKey, makeApiKey } from "../../../src/service/admission/api-key.ts";
import { createCheckOne } from "../../../src/service/check/check-one.ts";
import { createAdmission } from "../../../src/service/admission/counting-admission.ts";
import { DEFAULT_TIERS, type Tier } from "../../../src/service/admission/tiers.ts";
import { memoryAnswerCache } from "../../../src/adapters/memory/answer-cache.ts";
import { emptyRedis, linkProcess } from "../../contracts/process/redis-link.ts";
import { addAccount, openStores } from "../../contracts/stores.ts";
import { appWith } from "../../http/http-app.ts";
import { withRedis } from "../../services/with-redis.ts";

const CHECK = "/api/email/ada@x.example";

/** The real app and admission over Redis, with one account on the free tier. */
async function openWorldOn(url: string, t: TestContext, change: Partial<Tier>, balance: number) {
  await emptyRedis(url);
  const stores = await openStores(t);
  const { link, charges } = await linkProcess(t, url, stores);
  const { clock, sql, ids } = stores;
  const tiers = { ...DEFAULT_TIERS, free: { ...DEFAULT_TIERS.free, ...change } };
  const keys = sqlKeys(sql.db);
  const { rates, quotas, requests } = link;
  const admission = createAdmission({ keys, rates, quotas, requests, charges, clock, tiers });
  const cache = memoryAnswerCache(1_000_000);
  cache.keep("1 core address  ada@x.example", "{}", Infinity);
  const checkOne = createCheckOne({
    admission,
    cache,
    clock,
    tiers,
    check: () => Promise.reject(new Error("a fault")),
    publicUrl: () => "http://gatepost.example",
    datasetsVersion: () => 1,
  });
  const bulk = async ({ entrance }: { entrance: Parameters<typeof admission.terms>[0] }) => {
    const answer = await charges.charge(admission.terms(entrance, 3));
    const { paidBy } = await admission.receipt(entrance, answer);
    return { type: "application/json", body: "{}", paidBy };
  };
  const app = await appWith({ admission, checkOne, bulk });
  const accountId = await addAccount(stores, balance);
  const key = makeApiKey(ids);
  const shown = { id: "k1", accountId, name: "n", prefix: "", lastFour: "", createdAtMs: 0 };
  await keys.create({ ...shown, hash: hashApiKey(key) }, 1);
  const ask = async (request: InjectOptions | string) => {
    const options = typeof request === "string" ? { url: request } : request;
    const headers = { ...options.headers, "x-api-key": key };
    const answer = await app.inject({ ...options, headers });
    return [answer.statusCode, answer.headers["x-ratelimit-remaining"] ?? "none"];
  };
  /** Units in the ledger, after all are written. */
  const used = async (): Promise<number> => {
    await quotas.flush();
    return (await stores.usage.unitsUsed(accountKey(accountId), dayOf(clock.nowMs()))).inDay;
  };
  return { ...stores, url, ask, used, app };
}

const form = (payload: string): InjectOptions => ({
  method: "POST",
  url: "/api/email",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  payload,
});

/** Number of script calls since the counts were reset. */
async function scriptCalls(url: string, work: () => Promise<void>): Promise<number> {
  const client = new Redis(url);
  try {
    await client.config("RESETSTAT");
    await work();
    const stats = await client.info("commandstats");
    const calls = [...stats.matchAll(/^cmdstat_(?:eval|evalsha):calls=(\d+)/gm)];
    return calls.reduce((sum, [, count]) => sum + Number(count), 0);
  } finally {
    client.disconnect();
  }
}

/** Name, request, status, units charged; each by an account with 5 units left for the day and 9 requests. */
const requests: readonly (readonly [string, InjectOptions | string, number, number])[] = [
  ["a check in the path", CHECK, 200, 1],
  ["a check by form", form("email=ada@x.example"), 200, 1],
  ["a check whose work fails", "/api/email/other@x.example", 500, 0],
  ["a missing parameter", "/api/email", 400, 0],
  ["an empty form", form("email="), 400, 0],
  ["a wrong method", { method: "DELETE", url: CHECK }, 405, 0],
  ["a wrong media type", { ...form("a,b"), headers: { "content-type": "text/csv" } }, 415, 0],
  ["an unknown path", "/api/nothing", 404, 0],
  ["a batch in the path", "/api/email/a@x.example,b@x.example/mass", 200, 3],
  ["a batch by form", form("bulk=1&email=a@x.example,b@x.example,c@x.example"), 200, 3],
];

withRedis("the admission over Redis", (server) => {
  const openWorld = (t: TestContext, change: Partial<Tier> = {}, balance = 0) =>
    openWorldOn(server().url, t, change, balance);

  test("a cached check with a key is one call of a script", async (t) => {
    const { ask, url } = await openWorld(t);
    await ask(CHECK);
    const calls = await scriptCalls(url, async () => {
      for (let count = 0; count < 20; count += 1) assert.equal((await ask(CHECK))[0], 200);
      for (let count = 0; count < 20; count += 1) await ask(form("email=ada@x.example"));
    });
    assert.equal(calls, 40);
  });

  test("a tier without limits needs no call", async (t) => {
    const { ask, url } = await openWorld(t, { ratePerMinute: null, daily: null, monthly: null });
    await ask(CHECK);
    assert.equal(await scriptCalls(url, async () => void (await ask(CHECK))), 0);
  });

  test("each request of a shared call is counted by its own plan", async (t) => {
    await emptyRedis(server().url);
    const stores = await openStores(t);
    const { link } = await linkProcess(t, server().url, stores);
    const plans = {
      "bucket:192.0.2.1": { ratePerMinute: 30, daily: 2, monthly: null },
      "bucket:192.0.2.2": { ratePerMinute: 60, daily: null, monthly: 1 },
      "bucket:192.0.2.3": { ratePerMinute: 90, daily: null, monthly: null },
      "bucket:192.0.2.4": { ratePerMinute: null, daily: 1, monthly: 5 },
    } as const;
    const takeAll = () =>
      Promise.all(
        Object.entries(plans).map(async ([owner, limits]) => {
          const { rate, unit } = await link.requests.take(owner, limits, stores.clock.nowMs());
          return [rate?.remaining, unit?.kind === "spent" ? unit.period : unit?.kind];
        }),
      );
    assert.deepEqual(await takeAll(), [
      [29, "taken"],
      [59, "taken"],
      [89, undefined],
      [undefined, "taken"],
    ]);
    const calls = await scriptCalls(server().url, async () => {
      assert.deepEqual(await takeAll(), [
        [28, "taken"],
        [58, "month"],
        [88, undefined],
        [undefined, "day"],
      ]);
    });
    assert.equal(calls, 1);
  });

  for (const [name, request, status, units] of requests) {
    test(`over Redis ${name} is ${String(status)} and costs ${String(units)}`, async (t) => {
      const { ask, used } = await openWorld(t, { ratePerMinute: 9, daily: 3 });
      assert.deepEqual(await ask(request), [status, "8"]);
      assert.equal(await used(), units);
      if (units === 0) await ask(CHECK);
      const left = units === 3 ? 0 : 2;
      for (let call = 0; call < left; call += 1) assert.equal((await ask(CHECK))[0], 200);
      assert.equal((await ask(CHECK))[0], 429, "exactly the rest was granted");
    });
  }

  test("a used-up rate is refused before errors in the request, and takes no unit", async (t) => {
    const { ask, used } = await openWorld(t, { ratePerMinute: 1 });
    await ask(CHECK);
    assert.deepEqual(await ask("/api/email"), [429, "0"]);
    assert.deepEqual(await ask(CHECK), [429, "0"]);
    assert.equal(await used(), 1);
  });

  test("credits pay when the rate is used up, and the plan is not charged", async (t) => {
    const { ask, used, credits } = await openWorld(t, { ratePerMinute: 1 }, 2);
    await ask(CHECK);
    assert.deepEqual(await ask(CHECK), [200, "none"]);
    assert.equal(await used(), 1);
    assert.equal((await credits.entries("a1", 1))[0]?.balanceAfter, 1);
  });

  test("credits pay when the quota is used up, and the rate is returned", async (t) => {
    const { ask, used } = await openWorld(t, { ratePerMinute: 3, daily: 1 }, 2);
    assert.deepEqual(await ask(CHECK), [200, "2"]);
    assert.deepEqual(await ask(CHECK), [200, "none"]);
    assert.deepEqual(await ask(CHECK), [200, "none"]);
    assert.deepEqual(await ask(CHECK), [429, "1"]);
    assert.equal(await used(), 1);
  });

  test("an invalid key and a disabled account take no unit", async (t) => {
    const { app, ask, used, sql, clock } = await openWorld(t);
    const answer = await app.inject({ url: CHECK, headers: { "x-api-key": "no" } });
    assert.deepEqual([answer.statusCode, answer.headers["x-ratelimit-remaining"]], [401, "29"]);
    await sql.db.updateTable("accounts").set({ disabled_at_ms: clock.nowMs() }).execute();
    assert.deepEqual(await ask(CHECK), [403, "59"]);
    assert.equal(await used(), 0);
  });
});
