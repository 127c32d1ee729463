/**
 * `npm run bench:lists`: what a refreshed set costs the thread that serves. Packs in the worker thread while this
 * one's event loop is watched, swaps, and asks: pauses, the swap itself, a look-up, and both sets in memory.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { listFolder } from "../src/adapters/lists/list-copy.ts";
import { loadLists } from "../src/adapters/lists/load-lists.ts";
import { noOperatorLists } from "../src/adapters/lists/operator.ts";
import { attachDatasets, type SharedDatasets } from "../src/adapters/lists/shared-datasets.ts";
import { openWorkerDesk } from "../src/adapters/lists/worker-desk.ts";
import { readConfig } from "../src/main/config.ts";
import { realClock } from "../test/real-clock.ts";

const LOOKUPS = 1_000_000;
const ROUNDS = 5;

function bytesOf(value: unknown): number {
  if (value instanceof SharedArrayBuffer) return value.byteLength;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + bytesOf(part), 0);
}

function lookupNanoseconds(shared: SharedDatasets): number {
  const { disposable } = attachDatasets(shared, noOperatorLists);
  const startedMs = performance.now();
  let hits = 0;
  for (let n = 0; n < LOOKUPS; n += 1) hits += disposable.sourcesOf(`shop-${String(n)}.example`);
  const each = ((performance.now() - startedMs) * 1_000_000) / LOOKUPS;
  if (hits !== 0) throw new Error("made-up names are listed");
  return each;
}

const folder = listFolder(readConfig(process.env).dataDir);
const first = loadLists(folder).shared;
for (let round = 0; round < ROUNDS; round += 1) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const before = performance.eventLoopUtilization();
  const desk = openWorkerDesk(folder, realClock);
  delay.enable();
  const startedMs = performance.now();
  const { shared } = await desk.pack();
  const packedMs = performance.now() - startedMs;
  const { active } = performance.eventLoopUtilization(before);
  const swapStartedMs = performance.now();
  attachDatasets(shared, noOperatorLists);
  const swapMs = performance.now() - swapStartedMs;
  delay.disable();
  await desk.close();
  const figures = {
    "packed in the worker, ms": Math.round(packedMs),
    "event loop busy here, ms": Number(active.toFixed(1)),
    "longest pause here, ms": Number((delay.max / 1e6).toFixed(1)),
    "99th percentile of pauses, ms": Number((delay.percentile(99) / 1e6).toFixed(1)),
    "swap, ms": Number(swapMs.toFixed(3)),
    "look-up with its text, ns": Math.round(lookupNanoseconds(shared)),
    "both sets, MB": Number(((bytesOf(first) + bytesOf(shared)) / 1e6).toFixed(1)),
  };
  console.log(JSON.stringify(figures));
}
