import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENT } from "../../../test/policy/gate-world.ts";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import { givenTime } from "../../../test/time/given-time.ts";
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

const BAD_HOURS: readonly [name: string, options: Options][] = [
  ["DNS is silent", { lookup: SILENT }],
  ["the DNS port is closed", { lookup: lookupOf(closed) }],
  ["the DNS client has a fault", { lookup: lookupOf(faulty) }],
  ["the rate cannot be counted", { admission: () => ({ enterAs: never }) }],
  ["the counters are away", { admission: () => ({ enterAs: away }) }],
  ["the admission has a fault", { admission: () => ({ enterAs: faulty }) }],
  ["a unit cannot be charged", { charge: never }],
  ["charges are away", { charge: away }],
  ["policies cannot be read", { policyStore: () => ({ inForce: never }) }],
  ["policies are away", { policyStore: () => ({ inForce: away }) }],
  ["the rate is spent", { tier: "free" }],
];

/** A hook's deadline, and what a call may take beyond it. */
const LATEST_MS = 1_050;

for (const [name, options] of BAD_HOURS) {
  const rounds = options.lookup === SILENT ? 4 : 1;
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
