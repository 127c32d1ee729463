// Preloaded into a server under test: measures the turns of its main thread. Who connects to the socket that
// WATCH_SOCKET names gets what was measured since the last connection, as JSON.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";

export interface Watched {
  /** The longest time between two turns, less what the thread waited for a core. */
  readonly stallMs: number;
  /** The longest time in which the thread waited for a core between two turns. */
  readonly waitedMs: number;
  /** The most CPU time that the thread used between two turns. */
  readonly cpuMs: number;
  /** Part of the time in which the thread was on a core, and in which it waited for one; 0 to 1. */
  readonly busy: number;
  readonly kept: number;
  /** The most memory that the process has had since its start, in octets. */
  readonly peakRss: number;
}

const LOOK_EVERY_MS = 5;

interface Moment {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly waitedMs: number;
}

/** Linux's counts for this thread: nanoseconds on a core, and nanoseconds of waiting for one. */
function momentNow(): Moment {
  const counts = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  const [cpu = 0, waited = 0] = counts.map(Number);
  return { wallMs: performance.now(), cpuMs: cpu / 1e6, waitedMs: waited / 1e6 };
}

function peakRss(): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

function watch(socketPath: string): void {
  let [stallMs, cpuMs, waitedMs] = [0, 0, 0];
  let last = momentNow();
  let first = last;
  setInterval(() => {
    const now = momentNow();
    const waited = now.waitedMs - last.waitedMs;
    stallMs = Math.max(stallMs, now.wallMs - last.wallMs - waited);
    waitedMs = Math.max(waitedMs, waited);
    cpuMs = Math.max(cpuMs, now.cpuMs - last.cpuMs);
    last = now;
  }, LOOK_EVERY_MS).unref();
  createServer((socket) => {
    const now = momentNow();
    const wallMs = now.wallMs - first.wallMs;
    const busy = (now.cpuMs - first.cpuMs) / wallMs;
    const kept = (now.waitedMs - first.waitedMs) / wallMs;
    first = now;
    const watched: Watched = { stallMs, cpuMs, waitedMs, busy, kept, peakRss: peakRss() };
    [stallMs, cpuMs, waitedMs] = [0, 0, 0];
    socket.on("error", () => undefined).end(JSON.stringify(watched));
  })
    .listen(socketPath)
    .unref();
}

const { WATCH_SOCKET } = process.env;
if (isMainThread && WATCH_SOCKET !== undefined) watch(WATCH_SOCKET);
