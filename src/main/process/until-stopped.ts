import { systemClock as clock } from "../../base/clock.ts";

/** What stops a process, and how it leaves where it does not wait. SIGHUP: its terminal was closed. */
const STOPPING = [
  ["SIGTERM", () => process.exit(143)],
  ["SIGINT", () => process.exit(130)],
  ["SIGHUP", () => process.exit(129)],
] as const;

/** From now on a signal to stop ends the process at once. Without a handler process 1 of a container ignores the signal. */
export function leaveWhenAsked(): void {
  for (const [signal, leave] of STOPPING) process.once(signal, leave);
}

/** Resolves with the first signal to stop. A second one does not wait for what stops then. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const [signal, leave] of STOPPING)
      process.once(signal, () => resolve()).off(signal, leave);
  });
  leaveWhenAsked();
}

/** How long remaining output may take to be read. */
const GOODBYE_MS = 1_000;

/** For a process that has stopped everything: a reader of its output that stands still does not keep it. */
export function leaveSoon(): void {
  clock.after(GOODBYE_MS, () => process.exit());
}
