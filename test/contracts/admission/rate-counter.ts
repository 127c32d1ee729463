import assert from "node:assert/strict";
import { test } from "node:test";
import type { ManualClock } from "../../time/manual-clock.ts";
import type { Make } from "../contract.ts";
import type { RateCounter } from "../../../src/accounts/admission/counters.ts";

export interface RateCounterFixture {
  readonly counter: RateCounter;
  /** The counter's clock. */
  readonly clock: ManualClock;
}

const OWNER = "bucket:192.0.2.1";

export function rateCounterContract(name: string, make: Make<RateCounterFixture>): void {
  const rule = (
    sentence: string,
    check: (
      take: (limit: number, owner?: string) => Promise<Awaited<ReturnType<RateCounter["take"]>>>,
      fixture: RateCounterFixture,
    ) => Promise<void>,
  ): void => {
    test(`${name}: ${sentence}`, async (t) => {
      const fixture = await make(t);
      const { counter, clock } = fixture;
      await check(
        async (limit, owner = OWNER) => counter.take(owner, limit, clock.monotonicMs()),
        fixture,
      );
    });
  };

  rule("requests are granted up to the limit, and remaining falls to 0", async (take) => {
    const seen = [];
    for (let call = 0; call < 4; call += 1) seen.push(await take(3));
    assert.deepEqual(
      seen.map(({ isGranted, remaining }) => [isGranted, remaining]),
      [
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
      ],
    );
  });

  rule("the window opens with the first request and closes 60 s later", async (take, { clock }) => {
    clock.advance(12_345);
    assert.equal((await take(1)).closesInMs, 60_000);
    clock.advance(59_000);
    const last = await take(1);
    assert.deepEqual([last.isGranted, last.closesInMs], [false, 1_000]);
    clock.advance(1_000);
    assert.equal((await take(1)).isGranted, true);
  });

  rule("refused requests do not prolong the window", async (take, { clock }) => {
    await take(1);
    for (let second = 0; second < 60; second += 1) {
      clock.advance(1_000);
      assert.equal((await take(1)).isGranted, second === 59);
    }
  });

  rule("owners do not share", async (take) => {
    await take(1);
    assert.equal((await take(1, "account:1")).isGranted, true);
  });

  rule("a changed limit applies to what was counted", async (take) => {
    for (let call = 0; call < 5; call += 1) await take(10);
    assert.deepEqual((await take(5)).isGranted, false);
    const wider = await take(7);
    assert.deepEqual([wider.isGranted, wider.remaining], [true, 1]);
  });

  rule(
    "a request that cost more takes more of its own window, and of no later one",
    async (take, fixture) => {
      const { counter, clock } = fixture;
      const { window } = await take(10);
      await counter.spend(OWNER, window, 6);
      assert.equal((await take(10)).remaining, 2);
      await counter.spend(OWNER, window, 50);
      assert.deepEqual([(await take(10)).isGranted, (await take(10)).remaining], [false, 0]);
      clock.advance(60_000);
      await take(10);
      await counter.spend(OWNER, window, 6);
      assert.equal((await take(10)).remaining, 8);
    },
  );

  rule("a returned request can be used again", async (take, { counter }) => {
    const first = await take(1);
    await counter.giveBack(OWNER, first.window);
    assert.equal((await take(1)).isGranted, true);
  });

  rule("a request of an earlier window is not returned to this one", async (take, fixture) => {
    const first = await take(1);
    fixture.clock.advance(60_000);
    await take(1);
    await fixture.counter.giveBack(OWNER, first.window);
    assert.equal((await take(1)).isGranted, false);
  });

  rule("a calendar step of a day changes nothing", async (take, { clock }) => {
    await take(1);
    for (const step of [86_400_000, -172_800_000]) {
      clock.stepTo(clock.nowMs() + step);
      assert.equal((await take(1)).isGranted, false);
    }
    clock.advance(60_000);
    assert.equal((await take(1)).isGranted, true);
  });

  rule("parallel requests get exactly the limit", async (take) => {
    const seen = await Promise.all(Array.from({ length: 100 }, () => take(37)));
    assert.equal(seen.filter(({ isGranted }) => isGranted).length, 37);
  });
}
