import { readFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

export interface Slices {
  /** The longest turn of the event loop, in milliseconds of CPU time of this thread. */
  readonly longestCpuMs: number;
  /** The same in wall-clock time, which includes other processes. */
  readonly longestWallMs: number;
  /** The part of the longest wall-clock turn in which the thread waited for a core. */
  readonly waitedMs: number;
  /** The longest pause of the garbage collector in this thread. */
  readonly longestGcMs: number;
}

interface Moment {
  readonly cpuMs: number;
  readonly waitedMs: number;
  readonly wallMs: number;
}

/** Linux's counts for this thread: time on a core, and waiting for one. */
function momentNow(): Moment {
  const [cpu = 0, waited = 0] = readFileSync("/proc/thread-self/schedstat", "utf8")
    .split(" ")
    .map(Number);
  return { cpuMs: cpu / 1e6, waitedMs: waited / 1e6, wallMs: performance.now() };
}

/** CPU time of this thread while `work` runs without measuring turns, in milliseconds. */
export async function cpuMsDuring(work: () => Promise<void>): Promise<number> {
  const before = momentNow();
  await work();
  return momentNow().cpuMs - before.cpuMs;
}

/** Measures every turn of this thread's event loop while `work` runs; Linux only. */
export async function slicesDuring(work: () => Promise<void>): Promise<Slices> {
  let longestGcMs = 0;
  const collector = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestGcMs = Math.max(longestGcMs, duration);
  });
  collector.observe({ entryTypes: ["gc"] });
  let [longestCpuMs, longestWallMs, waitedMs, isOver] = [0, 0, 0, false];
  let last = momentNow();
  const look = (): void => {
    const now = momentNow();
    longestCpuMs = Math.max(longestCpuMs, now.cpuMs - last.cpuMs);
    if (now.wallMs - last.wallMs > longestWallMs) {
      longestWallMs = now.wallMs - last.wallMs;
      waitedMs = now.waitedMs - last.waitedMs;
    }
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  await new Promise(setImmediate);
  collector.disconnect();
  return { longestCpuMs, longestWallMs, waitedMs, longestGcMs };
}
