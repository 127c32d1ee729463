import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingLog } from "../../../test/contracts/stores.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import type { UnitsUsed, UsageDelta } from "./usage.ts";
import { MemoryQuotaCounter } from "./counters.ts";

const LIMITS = { daily: 10, monthly: null };
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A ledger of one day whose readings and writings end when the test says so. */
function slowLedger() {
  const units = new Map<string, number>();
  const waiting: (() => void)[] = [];
  let isBroken = false;
  const admission = () => new Promise<void>((resolve) => void waiting.push(resolve));
  return {
    units,
    /** Ends everything that waits, in order. */
    release: async () => {
      await settle();
      while (waiting.length > 0) {
        waiting.shift()?.();
        await settle();
      }
    },
    setBroken: (broken: boolean) => {
      isBroken = broken;
    },
    unitsUsed: async (owner: string): Promise<UnitsUsed> => {
      const inDay = units.get(owner) ?? 0;
      await admission();
      return { inDay, inMonth: inDay };
    },
    add: async (deltas: readonly UsageDelta[]) => {
      await admission();
      if (isBroken) throw new Error("disk full");
      for (const { owner, units: more = 0 } of deltas) {
        units.set(owner, (units.get(owner) ?? 0) + more);
      }
    },
  };
}

function openCounter(countsMax?: number) {
  const ledger = slowLedger();
  const clock = manualClock();
  const log = recordingLog();
  const counter = new MemoryQuotaCounter({ ledger, clock, log }, countsMax);
  const nowMs = clock.nowMs();
  const take = async (owner: string, units = 1) => {
    const answer = Promise.resolve(counter.take(owner, units, LIMITS, nowMs));
    await ledger.release();
    return (await answer).kind;
  };
  return { ledger, clock, log, counter, nowMs, take };
}

test("owners that are forgotten for others keep their day", async () => {
  const { take, counter, ledger } = openCounter(10);
  assert.equal(await take("first", 10), "taken");
  for (let other = 0; other < 50; other += 1) await take(`other ${String(other)}`);
  assert.equal(await take("first"), "spent", "forgotten before it was written");
  const flushed = counter.flush();
  await ledger.release();
  await flushed;
  for (let other = 0; other < 50; other += 1) await take(`another ${String(other)}`);
  assert.equal(await take("first"), "spent", "forgotten after it was written");
});

test("a count that is being written is read after the writing", async () => {
  const { counter, ledger, take, nowMs } = openCounter();
  await take("a", 10);
  const flushed = counter.flush();
  await settle();
  counter.forget("a"); // forgets the count: the next request reads
  const answer = Promise.resolve(counter.take("a", 1, LIMITS, nowMs));
  await ledger.release();
  await flushed;
  assert.equal((await answer).kind, "spent");
});

test("nothing of an owner is written while it is read", async () => {
  const { counter, ledger, take, nowMs } = openCounter();
  await take("a", 4);
  counter.forget("a");
  const answer = Promise.resolve(counter.take("a", 6, LIMITS, nowMs));
  await settle();
  await counter.flush();
  assert.equal(ledger.units.get("a"), undefined);
  await ledger.release();
  assert.equal((await answer).kind, "taken");
  assert.equal(await take("a"), "spent");
  const flushed = counter.flush();
  await ledger.release();
  await flushed;
  assert.equal(ledger.units.get("a"), 10);
});

test("a hold that ends during a reading makes it read again", async () => {
  const { counter, ledger, nowMs } = openCounter();
  const holding = counter.reserve("a", 6, LIMITS, nowMs);
  await ledger.release();
  const hold = await holding;
  assert.ok(hold.kind === "reserved");
  counter.forget("a");
  const answer = Promise.resolve(counter.take("a", 10, LIMITS, nowMs));
  await settle();
  counter.end(hold);
  await ledger.release();
  assert.equal((await answer).kind, "taken");
});

test("an open hold counts in a reading", async () => {
  const { counter, ledger, take, nowMs } = openCounter();
  const holding = counter.reserve("a", 6, LIMITS, nowMs);
  await ledger.release();
  await holding;
  counter.forget("a");
  assert.equal(await take("a", 5), "spent");
  assert.equal(await take("a", 4), "taken");
});

test("a ledger that cannot be written is logged and written later, once", async () => {
  const { counter, ledger, log, clock, take } = openCounter();
  await take("a", 3);
  ledger.setBroken(true);
  clock.advance(250);
  await ledger.release();
  assert.deepEqual(log.lines, ["error quota.flush_failed"]);
  const failing = assert.rejects(counter.flush(), /disk full/);
  await ledger.release();
  await failing;
  ledger.setBroken(false);
  await take("a", 4);
  clock.advance(2_000);
  await ledger.release();
  assert.equal(ledger.units.get("a"), 7);
});

test("a ledger that cannot be read grants nothing", async () => {
  const clock = manualClock();
  const counter = new MemoryQuotaCounter({
    clock,
    log: recordingLog(),
    ledger: { add: () => Promise.resolve(), unitsUsed: () => Promise.reject(new Error("down")) },
  });
  for (let call = 0; call < 2; call += 1) {
    await assert.rejects(async () => counter.take("a", 1, LIMITS, clock.nowMs()), /down/);
  }
});
