import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { watchEventLoop } from "./event-loop.ts";

test("a computation on the event loop shows in full", async () => {
  const stop = watchEventLoop();
  await sleep(20);
  const before = process.cpuUsage();
  for (let used = 0; used < 120_000;) {
    const { user, system } = process.cpuUsage(before);
    used = user + system;
  }
  await sleep(20);
  const longestMs = stop();
  assert.ok(longestMs >= 100, `${longestMs} ms`);
});

test("waiting is no pause", async () => {
  const stop = watchEventLoop();
  await sleep(150);
  const longestMs = stop();
  assert.ok(longestMs < 100, `${longestMs} ms`);
});
