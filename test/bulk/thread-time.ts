import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";

/** `begin` ends what is not measured. */
type Work = (begin: () => void) => Promise<void> | void;

const TRIES = 4;

/** The thread's own time, so far: without that of the collector's helpers, as the limit of a thread counts. */
const ranMs = (): number =>
  Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[0]) / 1e6;

async function threadMs(work: Work): Promise<number> {
  let start = ranMs();
  await work(() => (start = ranMs()));
  return ranMs() - start;
}

/** Short texts that are made, compared and kept, as a reader does: it waits for memory as a reader does. */
function yardstick(): void {
  const rows = Array.from({ length: 400_000 }, (_, at) => `u${String(at)}@good.test`).join("\n");
  assert.equal(new Set(Buffer.from(rows).toString("latin1").split("\n")).size, 400_000);
}
const YARDSTICK_MS = 350;

/** How much slower this machine is now than one with nothing else to do, whose cores share their memory with nobody. */
const slowness = async (): Promise<number> =>
  Math.max(1, (await threadMs(yardstick)) / YARDSTICK_MS);

/** What the work takes of its thread on a quiet machine, in milliseconds: the least of some tries, when the first take longer than `wantedMs`. */
export async function leastThreadMs(wantedMs: number, work: Work): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least > wantedMs; tries += 1) {
    const ms = await threadMs(work);
    least = Math.min(least, ms > wantedMs ? ms / (await slowness()) : ms);
  }
  return least;
}
