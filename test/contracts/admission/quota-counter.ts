import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, dayOf } from "../../../src/core/calendar.ts";
import type { MemoryQuotaCounter, QuotaCounter } from "../../../src/accounts/admission/counters.ts";
import type { QuotaLimits, UsageLedger } from "../../../src/accounts/admission/usage.ts";
import type { ManualClock } from "../../time/manual-clock.ts";
import type { Make } from "../contract.ts";

type Counter = Pick<QuotaCounter, "take" | "giveBack">;

export interface HeldUnitsFixture extends QuotaCounterFixture {
  readonly counter: MemoryQuotaCounter;
}

export interface QuotaCounterFixture {
  readonly counter: Counter;
  readonly ledger: UsageLedger;
  readonly clock: ManualClock;
  /** Another counter on the same ledger, as after a restart; the first one is no longer used. */
  restart(): Counter;
  /** Resolves when all counts are in the ledger. */
  flushed(): Promise<void>;
}

const OWNER = "bucket:192.0.2.1";
const NO_LIMITS: QuotaLimits = { daily: null, monthly: null };
const daily = (limit: number): QuotaLimits => ({ daily: limit, monthly: null });
const monthly = (limit: number): QuotaLimits => ({ daily: null, monthly: limit });

/** How many of `times` parallel calls, one unit each, are granted. */
async function granted(counter: Counter, limits: QuotaLimits, nowMs: number, times = 100) {
  const answers = await Promise.all(
    Array.from({ length: times }, async () => counter.take(OWNER, 1, limits, nowMs)),
  );
  return answers.filter(({ kind }) => kind === "taken").length;
}

const ruleOf =
  <Fixture extends { readonly clock: ManualClock }>(name: string, make: Make<Fixture>) =>
  (sentence: string, check: (fixture: Fixture, nowMs: number) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async (t) => {
      const fixture = await make(t);
      await check(fixture, fixture.clock.nowMs());
    });
  };

/** Of counters in memory, which count units before a transaction writes them. */
export function heldUnitsContract(name: string, make: Make<HeldUnitsFixture>): void {
  const rule = ruleOf(name, make);
  rule("a hold counts at once, and is never written by the counter", async (fixture, nowMs) => {
    const { counter, ledger } = fixture;
    const hold = await counter.reserve(OWNER, 6, daily(10), nowMs);
    assert.equal(hold.kind, "reserved");
    assert.equal(await granted(counter, daily(10), nowMs), 4);
    await fixture.flushed();
    assert.equal((await ledger.unitsUsed(OWNER, dayOf(nowMs))).inDay, 4);
  });

  rule("a dropped hold frees its units, once", async ({ counter }, nowMs) => {
    const hold = await counter.reserve(OWNER, 10, daily(10), nowMs);
    assert.ok(hold.kind === "reserved");
    assert.deepEqual(await counter.reserve(OWNER, 1, daily(10), nowMs), {
      kind: "spent",
      period: "day",
    });
    counter.end(hold);
    counter.end(hold);
    assert.equal(await granted(counter, daily(10), nowMs), 10);
  });

  rule("a hold that was kept stays counted", async ({ counter, ledger }, nowMs) => {
    const day = dayOf(nowMs);
    const hold = await counter.reserve(OWNER, 6, daily(10), nowMs);
    assert.ok(hold.kind === "reserved");
    await ledger.add([{ owner: OWNER, day, units: 6 }]);
    counter.end(hold);
    counter.end(hold);
    assert.equal(await granted(counter, daily(10), nowMs), 4);
  });

  rule("units refunded by a transaction can be used again", async ({ counter, ledger }, nowMs) => {
    const day = dayOf(nowMs);
    await counter.take(OWNER, 10, NO_LIMITS, nowMs);
    await ledger.add([{ owner: OWNER, day, units: -3 }]);
    counter.forget(OWNER);
    assert.equal(await granted(counter, daily(10), nowMs), 3);
  });
}

export function quotaCounterContract(name: string, make: Make<QuotaCounterFixture>): void {
  const rule = ruleOf(name, make);

  rule("units are granted up to the limit and not beyond", async ({ counter }, nowMs) => {
    assert.deepEqual(await counter.take(OWNER, 3, daily(4), nowMs), {
      kind: "taken",
      day: dayOf(nowMs),
    });
    assert.deepEqual(await counter.take(OWNER, 2, daily(4), nowMs), {
      kind: "spent",
      period: "day",
    });
    assert.equal((await counter.take(OWNER, 1, daily(4), nowMs)).kind, "taken");
  });

  rule("owners do not share", async ({ counter }, nowMs) => {
    await counter.take(OWNER, 1, daily(1), nowMs);
    assert.equal((await counter.take("bucket:192.0.2.2", 1, daily(1), nowMs)).kind, "taken");
  });

  rule(
    "a request for no units fits in any limit, even a used-up one",
    async ({ counter }, nowMs) => {
      await counter.take(OWNER, 5, NO_LIMITS, nowMs);
      assert.equal((await counter.take(OWNER, 0, daily(5), nowMs)).kind, "taken");
    },
  );

  rule("a used-up month is reported before a used-up day", async ({ counter }, nowMs) => {
    const limits = { daily: 1, monthly: 1 };
    await counter.take(OWNER, 1, limits, nowMs);
    assert.deepEqual(await counter.take(OWNER, 1, limits, nowMs), {
      kind: "spent",
      period: "month",
    });
  });

  rule("parallel calls at the limit get exactly what is left", async ({ counter }, nowMs) => {
    await counter.take(OWNER, 63, NO_LIMITS, nowMs);
    assert.equal(await granted(counter, daily(100), nowMs), 37);
  });

  rule("the first parallel calls of an owner get exactly the limit", async ({ counter }, nowMs) => {
    assert.equal(await granted(counter, daily(7), nowMs), 7);
  });

  rule("a returned unit can be used again, also after a restart", async (fixture, nowMs) => {
    const { counter } = fixture;
    await counter.take(OWNER, 1, daily(1), nowMs);
    await counter.giveBack(OWNER, 1, dayOf(nowMs));
    assert.equal((await counter.take(OWNER, 1, daily(1), nowMs)).kind, "taken");
    await counter.giveBack(OWNER, 1, dayOf(nowMs));
    await fixture.flushed();
    assert.equal(await granted(fixture.restart(), daily(1), nowMs), 1);
  });

  rule("a unit returned on another day does not change today", async ({ counter }, nowMs) => {
    await counter.take(OWNER, 1, NO_LIMITS, nowMs - DAY_MS);
    await counter.take(OWNER, 1, daily(1), nowMs);
    await counter.giveBack(OWNER, 1, dayOf(nowMs) - 1);
    assert.equal(await granted(counter, daily(2), nowMs), 1);
  });

  rule("counts are in the ledger within 250 ms", async ({ counter, ledger, ...rest }, nowMs) => {
    for (let call = 0; call < 5; call += 1) await counter.take(OWNER, 2, NO_LIMITS, nowMs);
    rest.clock.advance(250);
    await rest.flushed();
    const used = await ledger.unitsUsed(OWNER, dayOf(nowMs));
    assert.deepEqual(used, { inDay: 10, inMonth: 10 });
  });

  rule("a restart continues from the ledger", async (fixture, nowMs) => {
    await fixture.counter.take(OWNER, 8, daily(10), nowMs);
    await fixture.flushed();
    assert.equal(await granted(fixture.restart(), daily(10), nowMs), 2);
  });

  for (const [sentence, first, second, limits, want] of [
    ["a new day starts at zero", "2026-11-20T23:59:59.999Z", "2026-11-21T00:00:00Z", daily(1), 1],
    [
      "a new day is still the same month",
      "2026-11-20T23:59:59Z",
      "2026-11-21T00:00:00Z",
      monthly(1),
      0,
    ],
    [
      "a new month starts at zero",
      "2026-11-30T23:59:59.999Z",
      "2026-12-01T00:00:00Z",
      monthly(1),
      1,
    ],
    ["a leap day is a separate day", "2028-02-28T12:00:00Z", "2028-02-29T12:00:00Z", daily(1), 1],
    ["a leap day is in February", "2028-02-01T12:00:00Z", "2028-02-29T12:00:00Z", monthly(1), 0],
    [
      "March starts after the leap day",
      "2028-02-29T12:00:00Z",
      "2028-03-01T00:00:00Z",
      monthly(1),
      1,
    ],
    ["a new year starts at zero", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z", monthly(1), 1],
    [
      "a step back of a day uses that day's count",
      "2026-11-21T12:00:00Z",
      "2026-11-20T12:00:00Z",
      daily(1),
      1,
    ],
    [
      "a step back in the month frees no units",
      "2026-11-21T12:00:00Z",
      "2026-11-20T12:00:00Z",
      monthly(1),
      0,
    ],
  ] as const) {
    rule(sentence, async ({ counter }) => {
      await counter.take(OWNER, 1, NO_LIMITS, Date.parse(first));
      assert.equal(await granted(counter, limits, Date.parse(second)), want);
    });
  }

  rule("a clock that steps a day ahead and back frees nothing", async ({ counter }, nowMs) => {
    await counter.take(OWNER, 1, daily(1), nowMs);
    await counter.take(OWNER, 1, daily(1), nowMs + DAY_MS);
    for (const step of [0, DAY_MS, 0]) {
      assert.equal((await counter.take(OWNER, 1, daily(1), nowMs + step)).kind, "spent");
    }
  });

  rule("parallel calls on both sides of midnight get each day's limit", async (fixture) => {
    const beforeMs = Date.UTC(2026, 10, 21) - 1;
    const shares = await Promise.all(
      Array.from({ length: 100 }, async (_, call) => {
        const answer = await fixture.counter.take(OWNER, 1, daily(20), beforeMs + (call % 2));
        return answer.kind === "taken" ? answer.day : 0;
      }),
    );
    for (const day of [dayOf(beforeMs), dayOf(beforeMs + 1)]) {
      assert.equal(shares.filter((one) => one === day).length, 20);
    }
  });
}
