/** What a process has used, read from Linux. */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** Ticks of `/proc/PID/stat` in a second. */
const TICKS = 100;

/** User and system time of a process so far, in microseconds, to 10 ms. */
export function cpuOf({ pid }: ChildProcess): number {
  const text = readFileSync(`/proc/${String(pid)}/stat`, "latin1");
  const fields = text.replace(/^.*\) /, "").split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / TICKS;
}

/** Resident memory of a process in MB of 1,048,576: now, and the most it ever had. */
export function memoryOf({ pid }: ChildProcess): { readonly now: number; readonly peak: number } {
  const text = readFileSync(`/proc/${String(pid)}/status`, "latin1");
  const figure = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1_024;
  return { now: figure("VmRSS"), peak: figure("VmHWM") };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
