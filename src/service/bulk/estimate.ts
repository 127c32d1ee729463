import type { QueueAhead } from "../../ports/bulk/jobs.ts";

/** Taken for the speed of the workers until one has measured its own. */
const ASSUMED_ENTRIES_PER_SECOND = 1_000;

/**
 * Whole seconds until a new job of `entries` will be done, at least 1. Owners take turns, so of each running
 * job no more stands before it than it has itself.
 */
export function estimatedSeconds(
  entries: number,
  { openEntries, entriesPerSecond }: QueueAhead,
): number {
  const ahead = openEntries.reduce((sum, open) => sum + Math.min(open, entries), 0);
  const speed = Math.max(1, entriesPerSecond ?? ASSUMED_ENTRIES_PER_SECOND);
  return Math.max(1, Math.ceil((ahead + entries) / speed));
}
