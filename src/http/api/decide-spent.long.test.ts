import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, sender } from "../../../test/policy/sender.ts";
import { ask, KNOWN } from "../../../test/policy/asked-decision.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";

const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

test("beyond ten times the rate, and 6,000 a minute at least, it is 429; without a key at once, with a wrong one 401", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { apiKey } = await world.account("jo@shop.example", "free");
  const statuses = async (count: number, headers: Record<string, string>) => {
    const all = await Promise.all(
      many(count, () => ask(world, { email: "jo@bad.example" }, headers)),
    );
    return all.map(({ status }) => status);
  };
  const keyed = await statuses(6_100, { "x-api-key": apiKey });
  assert.equal(keyed.filter((status) => status === 200).length, 6_060);
  assert.equal(keyed.filter((status) => status === 429).length, 40);
  const wrong = await statuses(100, { "x-api-key": `gp_live_${"a".repeat(40)}` });
  assert.ok(
    wrong.every((status) => status === 401),
    "callers let people in on 401, and refuse everybody on 429",
  );
  const nobody = await statuses(40, {});
  assert.equal(nobody.filter((status) => status === 429).length, 40, "the wrong key spent it");
});

test("a wave of 1,000 strangers, each asked twice, beyond the rate: 30 messages", async (t) => {
  const { said } = await sender(t);
  const strangers = many(1_000, (at) => `p${String(at)}@firm.example`);
  const first = [];
  for (const email of strangers) first.push(await said(email));
  assert.deepEqual(counted(first), { "accept ok": 30, "challenge wave": 970 });
  const again = [];
  for (const email of strangers.slice(30)) again.push(await said(email));
  assert.deepEqual(counted(again), { "challenge wave": 970 }, "a challenge makes nobody known");
});
