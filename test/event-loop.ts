import { performance } from "node:perf_hooks";

const EVERY_MS = 5;

/**
 * Watches the event loop. The returned function ends that and says how long, in milliseconds, it stood still
 * at the longest while this process was computing: a pause counts for no more than the CPU time that went by
 * in it, so that a machine which gives its cores to others fails nobody's test.
 */
export function watchEventLoop(): () => number {
  let longestMs = 0;
  let atMs = performance.now();
  let cpu = process.cpuUsage();
  const sample = (): void => {
    const nowMs = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    longestMs = Math.max(longestMs, Math.min(nowMs - atMs, (user + system) / 1_000));
    atMs = nowMs;
    cpu = process.cpuUsage();
  };
  const timer = setInterval(sample, EVERY_MS);
  return () => {
    clearInterval(timer);
    sample();
    return longestMs;
  };
}
