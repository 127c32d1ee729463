import { systemClock as clock } from "../adapters/system/clock.ts";

/** Resolves with the first SIGTERM or SIGINT. A second one does not wait for what stops then. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}

/** What is still to be written is given so long to be read. */
const GOODBYE_MS = 1_000;

/** For a process that has stopped everything: a reader of its output that stands still does not keep it. */
export function leaveSoon(): void {
  clock.after(GOODBYE_MS, () => process.exit());
}
