import assert from "node:assert/strict";
import { test } from "node:test";
import { addAccount } from "../../../test/contracts/stores.ts";
import { forBulk } from "../../bulk/jobs/bulk-shapes.ts";
import { createAdmission } from "./admission.ts";
import { makeApiKey } from "../key-text.ts";
import { KeyService } from "../keys.ts";
import { Refusal } from "../../base/refusals.ts";
import { DEFAULT_TIERS } from "./tiers.ts";
import {
  ADDRESS,
  DAILY,
  INVALID,
  NOBODY,
  openWorld,
  RATE,
  refusal,
  tiersWith,
  withKey,
  type World,
} from "../../../test/process/admission-world.ts";
import { memoryRateCounter } from "./counters.ts";

test("an anonymous address has 30 requests in 60 s and learns how long to wait", async (t) => {
  const world = await openWorld(t);
  for (let call = 0; call < 30; call += 1) {
    assert.deepEqual((await world.enter()).rate, { limit: 30, remaining: 29 - call });
  }
  world.clock.advance(17_300);
  const spent = await world.enter();
  assert.deepEqual(spent.rate, { limit: 30, remaining: 0 });
  assert.deepEqual(spent.refusal?.detail, { retry_after: 43 });
  assert.equal(spent.refusal?.retryAfterSeconds, 43);
  RATE(43)(spent.refusal);
  assert.equal((await world.enter(NOBODY, "192.0.2.2")).refusal, undefined);
  world.clock.advance(42_700);
  assert.equal((await world.enter()).refusal, undefined);
});

test("addresses of one /64, and both spellings of an IPv4 address, share a bucket", async (t) => {
  const world = await openWorld(t, tiersWith("anonymous", { ratePerMinute: 1 }));
  const isGranted = async (address: string) =>
    (await world.enter(NOBODY, address)).refusal === undefined;
  assert.equal(await isGranted("2001:db8::1"), true);
  assert.equal(await isGranted("2001:db8::2"), false);
  assert.equal(await isGranted("2001:db8:0:1::1"), true);
  assert.equal(await isGranted("192.0.2.9"), true);
  assert.equal(await isGranted("::ffff:192.0.2.9"), false);
});

test("a spent day is refused with its end, a spent month with its own", async (t) => {
  const world = await openWorld(t, tiersWith("anonymous", { daily: 1, ratePerMinute: null }));
  assert.equal(await world.check(), "plan");
  await assert.rejects(world.check(), (error) => {
    DAILY(error);
    assert.ok(error instanceof Refusal);
    assert.deepEqual(error.detail, { reset_at: "2026-11-21T00:00:00.000Z" });
    assert.equal(error.retryAfterSeconds, 43_200);
    assert.deepEqual(forBulk(error).detail, {});
    assert.equal(forBulk(error).retryAfterSeconds, 43_200);
    return true;
  });
  const monthly = await openWorld(t, tiersWith("anonymous", { monthly: 1 }));
  await monthly.check();
  await assert.rejects(monthly.check(), (error) => {
    refusal("quota_exceeded", 429, "Monthly quota exceeded.")(error);
    assert.deepEqual((error as Refusal).detail, { reset_at: "2026-12-01T00:00:00.000Z" });
    return true;
  });
});

test("a tier without limits never refuses and shows no rate", async (t) => {
  const world = await openWorld(t, tiersWith("anonymous", { ratePerMinute: null, daily: null }));
  for (let call = 0; call < 200; call += 1) assert.equal(await world.check(), "plan");
  assert.equal((await world.enter()).rate, undefined);
});

test("a key has its account's limits, and keys of one account share them", async (t) => {
  const world = await openWorld(t);
  await addAccount(world);
  const [first, second] = [await world.newKey("k1"), await world.newKey("k2")];
  assert.deepEqual((await world.enter(withKey(first))).rate, { limit: 60, remaining: 59 });
  const admitted = await world.enter({ apiKey: [], authorization: [`Bearer ${second}`] });
  assert.deepEqual(admitted.rate, { limit: 60, remaining: 58 });
  assert.deepEqual(admitted.caller, {
    owner: { kind: "account", accountId: "a1" },
    tier: "free",
    clientAddress: ADDRESS,
    keyId: "k2",
    trafficSince: 1,
  });
});

test("an invalid key is 401, counts against the address, and is 429 beyond it", async (t) => {
  const world = await openWorld(t);
  for (let call = 0; call < 30; call += 1) {
    const { rate, refusal: no, caller } = await world.enter(withKey("nonsense"));
    INVALID(no);
    assert.deepEqual(rate, { limit: 30, remaining: 29 - call });
    assert.equal(caller.tier, "anonymous");
  }
  RATE(60)((await world.enter(withKey("nonsense"))).refusal);
  RATE(60)((await world.enter()).refusal);
});

test("a valid key works from an address whose own limit is spent", async (t) => {
  const world = await openWorld(t, tiersWith("anonymous", { ratePerMinute: 1 }));
  await addAccount(world);
  const key = await world.newKey();
  await world.enter(withKey("nonsense"));
  assert.equal(await world.check(withKey(key)), "plan");
});

test("a key of the wrong shape or checksum is refused without a question", async (t) => {
  const world = await openWorld(t);
  const key = makeApiKey(world.ids);
  for (const text of ["", "x", `${key.slice(0, -1)}!`, `${key}${key}`, "a".repeat(80_000)]) {
    INVALID((await world.enter(withKey(text))).refusal);
  }
  assert.equal(world.questions(), 0);
  INVALID((await world.enter(withKey(key))).refusal);
  assert.equal(world.questions(), 1);
});

test("a hundred requests of one new key ask once", async (t) => {
  const world = await openWorld(t);
  await addAccount(world);
  const key = await world.newKey();
  const all = await Promise.all(Array.from({ length: 100 }, () => world.enter(withKey(key))));
  assert.equal(world.questions(), 1);
  assert.equal(all.filter(({ refusal: no }) => no === undefined).length, 60);
});

test("a request whose key and counts are known needs no promise", async (t) => {
  const world = await openWorld(t);
  await addAccount(world);
  const credentials = withKey(await world.newKey());
  await world.check(credentials);
  const admitted = world.admission.enter(credentials, ADDRESS);
  assert.ok(!(admitted instanceof Promise));
  assert.ok(!(world.admission.charge(admitted, 1) instanceof Promise));
});

test("a store that fails is a fault, and forgotten with the next answer", async (t) => {
  const world = await openWorld(t);
  let isBroken = true;
  const admission = createAdmission({
    ...world,
    rates: memoryRateCounter(),
    quotas: world.counter,
    tiers: DEFAULT_TIERS,
    keys: {
      holder: async (hash) => {
        if (isBroken) throw new Error("down");
        return world.keys.holder(hash);
      },
    },
  });
  const key = makeApiKey(world.ids);
  await assert.rejects(async () => admission.enter(withKey(key), ADDRESS), /down/);
  isBroken = false;
  INVALID((await admission.enter(withKey(key), ADDRESS)).refusal);
});

const CHANGES: readonly (readonly [string, (world: World) => Promise<unknown>, number])[] = [
  ["a revoked key is 401", ({ keys, clock }) => keys.revoke("k1", clock.nowMs()), 401],
  [
    "a disabled account is 403",
    ({ accounts, clock }) => accounts.change("a1", { disabled_at_ms: clock.nowMs() }),
    403,
  ],
];
for (const [name, change, status] of CHANGES) {
  test(`${name} within 5 s, also while it is used all the time`, async (t) => {
    const world = await openWorld(t);
    await addAccount(world);
    const credentials = withKey(await world.newKey());
    await world.enter(credentials);
    await change(world);
    for (let call = 0; call < 9; call += 1) {
      world.clock.advance(500);
      await world.enter(credentials);
    }
    const { refusal: no, rate } = await world.enter(credentials);
    assert.equal(no?.status, status);
    assert.equal(rate?.limit, status === 401 ? 30 : 60);
  });
}

test("a notice makes a revocation take effect at once, for a question under way too", async (t) => {
  const world = await openWorld(t);
  await addAccount(world);
  const key = await world.newKey();
  const service = new KeyService({ ...world, notices: world.notices });
  await world.enter(withKey(key));
  assert.equal(await service.revoke("k1"), true);
  INVALID((await world.enter(withKey(key))).refusal);

  const second = await world.newKey("k2");
  const asked = world.enter(withKey(second));
  await service.revoke("k2");
  await asked;
  INVALID((await world.enter(withKey(second))).refusal);
});

test("another tier takes effect within 5 s", async (t) => {
  const world = await openWorld(t);
  await addAccount(world);
  const credentials = withKey(await world.newKey());
  assert.equal((await world.enter(credentials)).rate?.limit, 60);
  await world.accounts.change("a1", { tier: "pro" });
  world.clock.advance(5_000);
  const { rate, caller } = await world.enter(credentials);
  assert.deepEqual([rate, caller.tier], [{ limit: 500, remaining: 498 }, "pro"]);
});

test("the counting of traffic is on at first, and ends within 5 s", async (t) => {
  const world = await openWorld(t);
  await addAccount(world);
  const credentials = withKey(await world.newKey());
  assert.equal((await world.enter(credentials)).caller.trafficSince, 1);
  await world.accounts.change("a1", { traffic_since: 0 });
  world.clock.advance(5_000);
  assert.equal((await world.enter(credentials)).caller.trafficSince, undefined);
});

test("an account made by sign-up has the stricter limits for 24 hours", async (t) => {
  const world = await openWorld(t);
  await world.accounts.create({
    id: "a1",
    email: "new@gatepost.example",
    tier: "free",
    origin: "signup",
    admin: 0,
    created_at_ms: world.clock.nowMs(),
  });
  const credentials = withKey(await world.newKey());
  assert.equal((await world.enter(credentials)).rate?.limit, 10);
  world.clock.advance(86_399_999);
  assert.equal((await world.enter(credentials)).rate?.limit, 10);
  world.clock.advance(1);
  assert.equal((await world.enter(credentials)).rate?.limit, 60);
});
