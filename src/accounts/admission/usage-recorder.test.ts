import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingLog } from "../../../test/contracts/stores.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { emptyDay, type UsageDelta } from "./usage.ts";
import type { Caller } from "./caller.ts";
import { UsageRecorder } from "./usage-recorder.ts";

const caller = (accountId: string, keyId = "k1"): Caller => ({
  owner: { kind: "account", accountId },
  tier: "free",
  clientAddress: "192.0.2.1",
  keyId,
});
const STRANGER: Caller = {
  owner: { kind: "bucket", bucket: "192.0.2.1" },
  tier: "anonymous",
  clientAddress: "192.0.2.1",
};
const FINE = { refusal: undefined };

function openRecorder() {
  const clock = manualClock();
  const log = recordingLog();
  const batches: (readonly UsageDelta[])[] = [];
  const touched: string[] = [];
  let isBroken = false;
  const recorder = new UsageRecorder({
    clock,
    log,
    usage: {
      add: (deltas) => {
        if (isBroken) return Promise.reject(new Error("disk full"));
        batches.push(deltas);
        return Promise.resolve();
      },
    },
    keys: { touch: (ids) => Promise.resolve(void touched.push(...ids)) },
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    recorder,
    clock,
    log,
    batches,
    touched,
    settle,
    setBroken: (broken: boolean) => {
      isBroken = broken;
    },
  };
}

test("requests are written together, by account", async () => {
  const { recorder, clock, batches, settle } = openRecorder();
  for (let at = 0; at < 9; at += 1) {
    recorder.record(caller("a1"), { refusal: at === 2 ? "rate_exceeded" : undefined });
  }
  recorder.record(caller("a2"), FINE);
  recorder.record(STRANGER, FINE);
  assert.equal(batches.length, 0);
  clock.advance(1_000);
  await settle();
  assert.equal(batches.length, 1);
  const day = 20_777;
  assert.deepEqual(batches[0], [
    {
      ...emptyDay("account:a1", day),
      requests: 9,
      refusals: 1,
    },
    { ...emptyDay("account:a2", day), requests: 1 },
  ]);
  clock.advance(60_000);
  await settle();
  assert.equal(batches.length, 1, "nothing new, nothing written");
});

test("requests on both sides of midnight keep their days, whatever their order", async () => {
  const { recorder, clock, batches } = openRecorder();
  const midnightMs = Date.UTC(2026, 10, 21);
  for (const stepMs of [-1, 0, -1, 0]) {
    clock.stepTo(midnightMs + stepMs);
    recorder.record(caller("a1"), FINE);
  }
  await recorder.flush();
  const counts = new Map<number, number>();
  for (const { day, requests = 0 } of batches[0] ?? []) {
    counts.set(day, (counts.get(day) ?? 0) + requests);
  }
  assert.deepEqual([...counts.values()], [2, 2]);
});

test("a store that fails is logged once, and its counts come with the next batch", async () => {
  const { recorder, clock, log, batches, settle, setBroken } = openRecorder();
  setBroken(true);
  for (let turn = 0; turn < 3; turn += 1) {
    recorder.record(caller("a1"), FINE);
    clock.advance(1_000);
    await settle();
  }
  assert.deepEqual(log.lines, ["error usage.flush_failed"]);
  await assert.rejects(recorder.flush(), /disk full/);
  setBroken(false);
  await recorder.flush();
  assert.equal(batches.length, 1);
  assert.deepEqual(batches[0]?.[0]?.requests, 3);
  assert.equal(batches[0]?.length, 1);
});

test("a key's last use is noted once a minute", async () => {
  const { recorder, clock, touched, settle } = openRecorder();
  for (let second = 0; second < 61; second += 1) {
    recorder.record(caller("a1"), FINE);
    clock.advance(1_000);
    await settle();
  }
  assert.deepEqual(touched, ["k1", "k1"]);
});
