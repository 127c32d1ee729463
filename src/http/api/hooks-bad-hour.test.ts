import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENT } from "../../../test/policy/gate-world.ts";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import { RECORDED } from "../../../test/policy/recorded-payloads.ts";
import { givenTime } from "../../../test/time/given-time.ts";
import { until } from "../../../test/time/until.ts";
import { quotaExceeded } from "../../base/refusals.ts";
import { StoreDown } from "../../base/store-down.ts";
import type { Lookup } from "../../core/mail/lookup.ts";

type Options = NonNullable<Parameters<typeof hookWorld>[1]>;

const never = (): Promise<never> => new Promise(() => undefined);
const away = (): Promise<never> => Promise.reject(new StoreDown("closed"));
const closed = () => Promise.resolve({ kind: "unknown", why: "network" } as const);
const faulty = (): never => {
  throw new Error("a fault");
};

const lookupOf = (
  ask: Lookup["mx"] & Lookup["addresses"] & Lookup["txt"] & Lookup["registration"],
): Lookup => ({
  mx: ask,
  addresses: ask,
  txt: ask,
  registration: ask,
});

const CLOSED = lookupOf(closed);

const BAD_HOURS: readonly [name: string, options: Options][] = [
  ["DNS is silent", { lookup: SILENT }],
  ["the DNS port is closed", { lookup: CLOSED }],
  ["the DNS client has a fault", { lookup: lookupOf(faulty) }],
  ["the rate cannot be counted", { admission: () => ({ enterAs: never }) }],
  ["the counters are away", { admission: () => ({ enterAs: away }) }],
  ["the admission has a fault", { admission: () => ({ enterAs: faulty }) }],
  ["a unit cannot be charged", { charge: () => never }],
  ["charges are away", { charge: () => away }],
  ["policies cannot be read", { policyStore: () => ({ inForce: never }) }],
  ["policies are away", { policyStore: () => ({ inForce: away }) }],
  ["the rate is spent", { tier: "free" }],
];

/** A hook's deadline, and what a call may take beyond it. */
const LATEST_MS = 1_050;

for (const [name, options] of BAD_HOURS) {
  const rounds = options.lookup === SILENT || options.lookup === CLOSED ? 4 : 1;
  test(`while ${name}, no listed address gets in at 60 at once, and honest people do in time`, async (t) => {
    const given = givenTime();
    t.after(() => given.stop());
    const world = await hookWorld(t, options);
    const hook = await world.hook("kratos");
    const call = async (email: string) => {
      const body = JSON.stringify({ email });
      const startedMs = given.nowMs();
      const [status] = await world.post(hook.id, body, world.signed(hook, body));
      return { status, tookMs: given.nowMs() - startedMs };
    };
    const listed: Awaited<ReturnType<typeof call>>[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const calls = Array.from({ length: 60 }, (_, at) =>
        call(`jo@n${String(round)}-${String(at)}.bad.example`),
      );
      listed.push(...(await Promise.all(calls)));
    }
    assert.deepEqual(new Set(listed.map(({ status }) => status)), new Set([400]));
    const honest = await Promise.all(Array.from({ length: 20 }, () => call("jo@good.example")));
    assert.deepEqual(new Set(honest.map(({ status }) => status)), new Set([204]));
    const slowest = Math.max(...honest.map(({ tookMs }) => tookMs));
    assert.ok(slowest <= LATEST_MS, `${slowest.toFixed(0)} ms`);
    if (options.lookup === SILENT) {
      const median = listed.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)[rounds * 30] ?? 0;
      t.diagnostic(`a listed address was refused within ${median.toFixed(0)} ms (median)`);
      assert.ok(median < LATEST_MS / 2, "it does not wait for DNS");
    }
    const [row] = await world.list(world.accountId);
    assert.equal(row?.calls.refused, rounds * 60);
    assert.equal(row.calls.accepted + row.calls.failed_open, 20);
  });
}

const spent = (): never => {
  throw quotaExceeded("day", Date.now(), 1_000);
};

for (const system of ["supabase", "kratos"] as const) {
  test(`${system}: 620 recorded calls, 20 at once, with the quota spent and DNS silent: none gets in`, async (t) => {
    const world = await hookWorld(t, { lookup: SILENT, charge: () => spent });
    const hook = await world.hook(system);
    const call = async (at: number) => {
      const body = RECORDED[system].replace("SUB", `jo@n${String(at)}.bad.example`);
      const [status, said] = await world.post(hook.id, body, world.signed(hook, body));
      return `${String(status)} ${said}`;
    };
    for (let at = 0; at < 620; at += 20) {
      for (const said of await Promise.all(
        Array.from({ length: 20 }, (_, one) => call(at + one)),
      )) {
        assert.match(said, system === "kratos" ? /^400 .*permanent/ : /^200 .*"http_code":400/);
      }
    }
    const [row] = await world.list(world.accountId);
    assert.equal(row?.calls.refused, 620);
    assert.equal(await world.charged(), 0);
  });
}

test("behind a check that is kept, a listed address does not wait for counts that never come", async (t) => {
  const given = givenTime();
  t.after(() => given.stop());
  const stuck = { isOn: false };
  const world = await hookWorld(t, {
    charge: (real) => (admitted, units) => (stuck.isOn ? never() : real.charge(admitted, units)),
  });
  const hook = await world.hook("kratos");
  const body = JSON.stringify({ email: "jo@bad.example" });
  const call = () => world.post(hook.id, body, world.signed(hook, body));
  assert.equal((await call())[0], 400);
  stuck.isOn = true;
  const startedMs = given.nowMs();
  assert.equal((await call())[0], 400);
  assert.ok(given.nowMs() - startedMs < LATEST_MS / 2);
  await until(async () => (await world.units()) === 2);
});
