import assert from "node:assert/strict";
import { test } from "node:test";
import { dayOf } from "../../../src/core/calendar.ts";
import type { UsageLedger } from "../../../src/accounts/admission/usage.ts";
import type { Make } from "../contract.ts";

const OWNER = "account:a1";
const dayNamed = (text: string): number => dayOf(Date.parse(text));

export function usageLedgerContract(name: string, make: Make<UsageLedger>): void {
  const rule = (sentence: string, check: (ledger: UsageLedger) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };

  rule("an unknown owner has used nothing", async (ledger) => {
    assert.deepEqual(await ledger.unitsUsed(OWNER, 1), { inDay: 0, inMonth: 0 });
    assert.deepEqual(await ledger.days(OWNER, 0, 99_999), []);
  });

  rule("a month is the sum of its own days", async (ledger) => {
    const days = ["2028-01-31", "2028-02-01", "2028-02-29", "2028-03-01"];
    await ledger.add(
      days.map((text, index) => ({ owner: OWNER, day: dayNamed(text), units: 10 ** index })),
    );
    const used = await ledger.unitsUsed(OWNER, dayNamed("2028-02-29"));
    assert.deepEqual(used, { inDay: 100, inMonth: 110 });
  });

  rule("additions accumulate, also for a day named twice in one call", async (ledger) => {
    const delta = { owner: OWNER, day: 5, units: 3, requests: 2, refusals: 1 };
    await ledger.add([delta, delta]);
    await ledger.add([{ owner: OWNER, day: 5, units: -1 }]);
    assert.deepEqual(await ledger.days(OWNER, 5, 5), [
      {
        day: 5,
        units: 5,
        credits: 0,
        requests: 4,
        refusals: 2,
      },
    ]);
  });

  rule("days are returned in order, with both ends, for one owner", async (ledger) => {
    await ledger.add([9, 7, 8, 6].map((day) => ({ owner: OWNER, day, units: 1 })));
    await ledger.add([{ owner: "account:a2", day: 7, units: 1 }]);
    const days = await ledger.days(OWNER, 7, 8);
    assert.deepEqual(
      days.map(({ day }) => day),
      [7, 8],
    );
  });

  rule("units are taken while day and month have room for all of them", async (ledger) => {
    const first = dayNamed("2028-02-01");
    const take = (day: number, units: number) =>
      ledger.take({ owner: OWNER, units, limits: { daily: 5, monthly: 7 }, day });
    assert.deepEqual(await take(first, 4), { kind: "taken", day: first });
    assert.deepEqual(await take(first, 2), { kind: "spent", period: "day" });
    assert.deepEqual(await take(first + 1, 4), { kind: "spent", period: "month" });
    assert.equal((await take(first + 1, 3)).kind, "taken");
    assert.equal((await take(first - 1, 5)).kind, "taken", "another month");
    assert.deepEqual(await ledger.unitsUsed(OWNER, first), { inDay: 4, inMonth: 7 });
  });

  rule("parallel requests at the limit get exactly what is left", async (ledger) => {
    await ledger.add([{ owner: OWNER, day: 5, units: 63 }]);
    const order = { owner: OWNER, units: 1, limits: { daily: 100, monthly: null }, day: 5 };
    const answers = await Promise.all(Array.from({ length: 60 }, () => ledger.take(order)));
    assert.equal(answers.filter(({ kind }) => kind === "taken").length, 37);
  });

  rule("an empty addition is accepted", async (ledger) => {
    await ledger.add([]);
  });

  rule("several thousand owners fit in one call", async (ledger) => {
    const deltas = Array.from({ length: 3_000 }, (_, index) => ({
      owner: `bucket:${String(index)}`,
      day: 3,
      units: index,
    }));
    await ledger.add(deltas);
    assert.equal((await ledger.unitsUsed("bucket:2999", 3)).inDay, 2_999);
  });

  rule("thousands of days are pruned in one call", async (ledger) => {
    const deltas = Array.from({ length: 4_001 }, (_, index) => ({
      owner: `bucket:${String(index)}`,
      day: 3,
      units: 1,
    }));
    await ledger.add(deltas);
    assert.equal(await ledger.prune({ accountsFrom: 0, bucketsFrom: 4 }), 4_001);
    assert.equal(await ledger.prune({ accountsFrom: 0, bucketsFrom: 4 }), 0);
  });

  rule("pruning keeps accounts longer than addresses", async (ledger) => {
    for (const owner of ["account:a1", "bucket:192.0.2.1"]) {
      await ledger.add([1, 2, 3].map((day) => ({ owner, day, units: 1 })));
    }
    assert.equal(await ledger.prune({ accountsFrom: 2, bucketsFrom: 3 }), 3);
    assert.equal((await ledger.days("account:a1", 0, 9)).length, 2);
    assert.equal((await ledger.days("bucket:192.0.2.1", 0, 9)).length, 1);
  });
}
