import { fetchCheck, takeAsked } from "./asked.ts";
import { accepted, readLines } from "./client.ts";
import type { CheckStep } from "./shapes.ts";

/** Checks one entry for one unit. `take` gets the core facts first and the whole result last. */
export async function checkEntry(
  entry: string,
  take: (step: CheckStep) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await accepted(takeAsked(entry) ?? fetchCheck(entry, signal));
  await readLines(response, (value) => take(value as CheckStep));
}
