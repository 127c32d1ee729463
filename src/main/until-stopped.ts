import { systemClock as clock } from "../adapters/system/clock.ts";

/** What stops a process, and the exit code where it comes a second time. SIGHUP: its terminal was closed. */
const STOPPING = [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const;

/**
 * Resolves with the first signal to stop, and hears it from the call on: one that comes while the process starts is
 * not lost. A second one does not wait for what stops then.
 */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const [signal] of STOPPING) process.once(signal, () => resolve());
  });
  for (const [signal, code] of STOPPING) process.once(signal, () => process.exit(code));
}

/** What is still to be written is given so long to be read. */
const GOODBYE_MS = 1_000;

/** For a process that has stopped everything: a reader of its output that stands still does not keep it. */
export function leaveSoon(): void {
  clock.after(GOODBYE_MS, () => process.exit());
}
