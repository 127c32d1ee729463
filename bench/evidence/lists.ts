/**
 * `npm run bench:lists`: the cost of a refreshed set for the serving thread. A worker thread starts, tests a
 * large file and packs while every turn of this thread's event loop is measured; the set is swapped and read. Time
 * is CPU time of this thread, because wall-clock time includes other processes. Linux only.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listFolder } from "../../src/lists/files/feed-copy.ts";
import { loadLists } from "../../src/lists/load/load-lists.ts";
import { noRules } from "../../src/lists/table/families.ts";
import { attachDatasets, type SharedDatasets } from "../../src/lists/table/shared-datasets.ts";
import { openWorkerDesk } from "../../src/lists/refresh/worker-desk.ts";
import { readConfig } from "../../src/main/settings/config.ts";
import { realClock } from "../../test/time/real-clock.ts";
import { cpuMsDuring, slicesDuring } from "../slices.ts";

const LOOKUPS = 1_000_000;
const ROUNDS = 8;

function bytesOf(value: unknown): number {
  if (value instanceof SharedArrayBuffer) return value.byteLength;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + bytesOf(part), 0);
}

function lookupNanoseconds(shared: SharedDatasets): number {
  const { disposable } = attachDatasets(shared, noRules);
  const startedMs = performance.now();
  let hits = 0;
  for (let n = 0; n < LOOKUPS; n += 1) hits += disposable.sourcesOf(`shop-${String(n)}.example`);
  const each = ((performance.now() - startedMs) * 1_000_000) / LOOKUPS;
  if (hits !== 0) throw new Error("made-up names are listed");
  return each;
}

/** A file in the format of "disposable", slightly larger than the real one. */
const BODY = Buffer.from(
  ["mailinator.com", "yopmail.com", "guerrillamail.com", "sharklasers.com"]
    .concat(Array.from({ length: 150_000 }, (_, n) => `bad-${String(n)}.example`))
    .join("\n"),
);

const folder = listFolder(mkdtempSync(join(tmpdir(), "gatepost-bench-")));
const first = loadLists(listFolder(readConfig(process.env).dataDir)).shared;
for (let round = 0; round < ROUNDS; round += 1) {
  let shared = first;
  let swapMs = 0;
  const refresh = async (): Promise<void> => {
    const desk = openWorkerDesk(folder, realClock);
    const body = Uint8Array.from(BODY);
    const file = { id: "disposable", body, fetchedAtMs: Date.now() };
    await desk.assess({ ...file, removalSeen: false, isConfirmed: true });
    shared = (await desk.pack()).shared;
    const startedMs = performance.now();
    attachDatasets(shared, noRules);
    swapMs = performance.now() - startedMs;
    await desk.close();
  };
  const cpuMs = await cpuMsDuring(refresh);
  const slices = await slicesDuring(refresh);
  const rounded = (ms: number): number => Number(ms.toFixed(2));
  const figures = {
    "CPU here in all, ms": rounded(cpuMs),
    "longest slice, CPU ms": rounded(slices.longestCpuMs),
    "longest slice, wall ms": rounded(slices.longestWallMs),
    "of that waiting for a core, ms": rounded(slices.waitedMs),
    "longest collection here, ms": rounded(slices.longestGcMs),
    "swap, ms": Number(swapMs.toFixed(3)),
    "look-up with its text, ns": Math.round(lookupNanoseconds(shared)),
    "both sets, MB": rounded((bytesOf(first) + bytesOf(shared)) / 1e6),
  };
  console.log(JSON.stringify(figures));
}
rmSync(join(folder, ".."), { recursive: true });
