import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, dayOf } from "../../../src/core/calendar.ts";
import type { Charges, ChargeTerms } from "../../../src/accounts/admission/charges.ts";
import type { Credits } from "../../../src/accounts/credits.ts";
import type { QuotaCounter } from "../../../src/accounts/admission/counters.ts";
import type { QuotaLimits, UsageLedger } from "../../../src/accounts/admission/usage.ts";
import type { Make } from "../contract.ts";

export interface ChargesFixture {
  readonly charges: Charges;
  readonly counter: Pick<QuotaCounter, "take" | "giveBack">;
  readonly credits: Credits;
  readonly usage: UsageLedger;
  /** An account with this balance. */
  account(balance: number): Promise<string>;
  readonly nowMs: number;
}

const limits = (daily: number): QuotaLimits => ({ daily, monthly: null });

async function sumOf(credits: Credits, accountId: string): Promise<number> {
  const entries = await credits.entries(accountId, 10_000);
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  assert.equal(entries[0]?.balance_after ?? 0, sum);
  return sum;
}

export function chargesContract(name: string, make: Make<ChargesFixture>): void {
  const rule = (
    sentence: string,
    check: (
      fixture: ChargesFixture,
      terms: (more?: Partial<ChargeTerms>) => ChargeTerms,
      accountId: string,
    ) => Promise<void>,
    balance = 0,
  ): void => {
    test(`${name}: ${sentence}`, async (t) => {
      const fixture = await make(t);
      const accountId = await fixture.account(balance);
      const owner = { kind: "account", accountId } as const;
      const { nowMs } = fixture;
      const base = {
        owner,
        units: 1,
        limits: limits(10),
        purses: "plan_then_credits",
        nowMs,
      } as const;
      await check(fixture, (more = {}) => ({ ...base, ...more }), accountId);
    });
  };

  rule("the plan pays first, durably and at once", async ({ charges, usage, nowMs }, terms, id) => {
    const charge = await charges.charge(terms({ units: 10 }));
    assert.ok(charge.kind === "charged");
    assert.deepEqual([charge.paidBy, charge.units], ["plan", 10]);
    const [day] = await usage.days(`account:${id}`, dayOf(nowMs), dayOf(nowMs));
    assert.deepEqual([day?.units, day?.credits], [10, 0]);
  });

  rule("a used-up plan without credits is reported", async ({ charges }, terms) => {
    await charges.charge(terms({ units: 10 }));
    assert.deepEqual(await charges.charge(terms()), { kind: "unpaid", by: "day" });
    const month = terms({ limits: { daily: null, monthly: 10 } });
    assert.deepEqual(await charges.charge(month), { kind: "unpaid", by: "month" });
  });

  rule(
    "credits pay the whole request and leave the plan alone",
    async ({ charges, credits, usage, nowMs }, terms, id) => {
      await charges.charge(terms({ units: 8 }));
      const charge = await charges.charge(terms({ units: 5 }));
      assert.ok(charge.kind === "charged");
      assert.equal(charge.paidBy, "credits");
      assert.equal(await sumOf(credits, id), 2);
      const [day] = await usage.days(`account:${id}`, dayOf(nowMs), dayOf(nowMs));
      assert.deepEqual([day?.units, day?.credits], [8, 5]);
      assert.equal((await charges.charge(terms({ units: 2 }))).kind, "charged");
      assert.equal(await sumOf(credits, id), 2);
    },
    7,
  );

  rule(
    "credits that cover only a part are not charged",
    async ({ charges, credits }, terms, id) => {
      assert.equal((await charges.charge(terms({ units: 11 }))).kind, "unpaid");
      assert.equal(await sumOf(credits, id), 10);
    },
    10,
  );

  rule(
    "a request without units costs one credit when the rate is used up",
    async ({ charges, credits }, terms, id) => {
      const order = terms({ units: 0, purses: "credits" });
      assert.equal((await charges.charge(order)).kind, "charged");
      assert.deepEqual(await charges.charge(order), { kind: "unpaid", by: "rate" });
      assert.equal(await sumOf(credits, id), 0);
    },
    1,
  );

  rule(
    "a purse that may not be used is not charged",
    async ({ charges, credits }, terms, id) => {
      const answer = await charges.charge(terms({ units: 11, purses: "plan" }));
      assert.deepEqual(answer, { kind: "unpaid", by: "day" });
      assert.equal(await sumOf(credits, id), 50);
    },
    50,
  );

  rule("a bucket has no credits", async ({ charges }, terms) => {
    const owner = { kind: "bucket", bucket: "192.0.2.1" } as const;
    const answer = await charges.charge(terms({ owner, units: 11 }));
    assert.deepEqual(answer, { kind: "unpaid", by: "day" });
  });

  rule(
    "parallel requests spend exactly the available credits",
    async ({ charges, credits }, terms, id) => {
      const orders = Array.from({ length: 100 }, () =>
        charges.charge(terms({ units: 3, purses: "credits" })),
      );
      const answers = await Promise.all(orders);
      assert.equal(answers.filter(({ kind }) => kind === "charged").length, 13);
      assert.equal(await sumOf(credits, id), 1);
    },
    40,
  );

  rule(
    "parallel bulk and single requests share one limit",
    async ({ charges, counter }, terms, id) => {
      const owner = `account:${id}`;
      const left = terms({ units: 7, limits: limits(40) });
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, call) =>
          call % 2 === 0
            ? (await charges.charge(left)).kind === "charged" && 7
            : (await counter.take(owner, 1, left.limits, left.nowMs)).kind === "taken" && 1,
        ),
      );
      const total = answers.reduce<number>((sum, units) => sum + Number(units), 0);
      assert.equal(total, 40);
    },
  );

  rule("a refund is given once, to the day of its charge", async (fixture, terms, id) => {
    const { charges, counter, usage, nowMs } = fixture;
    const yesterday = terms({ units: 10, nowMs: nowMs - DAY_MS });
    const charge = await charges.charge(yesterday);
    assert.ok(charge.kind === "charged");
    await counter.take(`account:${id}`, 10, limits(10), nowMs);
    for (const units of [4, 4, 3]) await charges.refund(charge.id, units, nowMs);
    const days = await usage.days(`account:${id}`, dayOf(nowMs) - 1, dayOf(nowMs) - 1);
    assert.deepEqual(
      days.map(({ units }) => units),
      [6],
    );
    assert.equal((await counter.take(`account:${id}`, 1, limits(10), nowMs)).kind, "spent");
    assert.equal((await charges.charge({ ...yesterday, units: 4 })).kind, "charged");
  });

  rule("units refunded today can be used again", async ({ charges, counter, nowMs }, terms, id) => {
    const charge = await charges.charge(terms({ units: 10 }));
    assert.ok(charge.kind === "charged");
    assert.equal((await counter.take(`account:${id}`, 1, limits(10), nowMs)).kind, "spent");
    await charges.refund(charge.id, 10, nowMs);
    assert.equal((await counter.take(`account:${id}`, 10, limits(10), nowMs)).kind, "taken");
  });

  rule(
    "a refund of credits goes to the ledger, and the price of no units comes back too",
    async ({ charges, credits, nowMs }, terms, id) => {
      const part = await charges.charge(terms({ units: 6, purses: "credits" }));
      const whole = await charges.charge(terms({ units: 0, purses: "credits" }));
      assert.ok(part.kind === "charged" && whole.kind === "charged");
      await charges.refund(part.id, 2, nowMs);
      await charges.refund(part.id, 2, nowMs);
      await charges.refund(whole.id, 0, nowMs);
      assert.equal(await sumOf(credits, id), 6);
      const entries = await credits.entries(id, 10);
      assert.deepEqual(
        entries.map(({ reason, amount }) => `${reason} ${String(amount)}`),
        ["refund 1", "refund 2", "charge -1", "charge -6", "grant 10"],
      );
    },
    10,
  );

  rule(
    "the same refund twice in parallel is given once",
    async ({ charges, usage, nowMs }, terms, id) => {
      const charge = await charges.charge(terms({ units: 10 }));
      assert.ok(charge.kind === "charged");
      await Promise.allSettled([1, 2, 3].map(() => charges.refund(charge.id, 10, nowMs)));
      assert.equal((await usage.unitsUsed(`account:${id}`, dayOf(nowMs))).inDay, 0);
    },
  );

  rule("an old or unknown charge is not refunded", async ({ charges, usage, nowMs }, terms, id) => {
    const charge = await charges.charge(terms({ units: 10 }));
    assert.ok(charge.kind === "charged");
    assert.equal(await charges.prune(nowMs), 0);
    assert.equal(await charges.prune(nowMs + 1), 1);
    await charges.refund(charge.id, 10, nowMs);
    await charges.refund("nothing", 10, nowMs);
    assert.equal((await usage.unitsUsed(`account:${id}`, dayOf(nowMs))).inDay, 10);
  });
}
