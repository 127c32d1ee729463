import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";

/** Waits for the disk beside the thread that commits. */
export interface LogSync {
  /**
   * Resolves when all that was committed before the call would outlive a power cut. Calls that come while the disk works
   * share its next round. Rejects when the disk refuses: a machine that fails may then lose those commits.
   */
  readonly synced: () => Promise<void>;
  /** Waits for what is under way. */
  readonly close: () => Promise<void>;
}

/**
 * Syncs the write-ahead log of an open SQLite database, which is what SQLite does itself at each commit with
 * `synchronous = full` (sqlite.org/pragma.html#pragma_synchronous). But there the thread stands still, for 5 to 370 ms,
 * and the file is locked. SQLite has no locks on its log that closing another descriptor could end.
 */
export function logSync(
  log: string,
  sync: (descriptor: number) => Promise<void> = promisify(fdatasync),
): LogSync {
  let descriptor: number | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = async (): Promise<void> => {
    next = undefined;
    descriptor ??= openSync(log, "r+"); // some systems sync only what may be written
    running = sync(descriptor);
    try {
      await running;
    } finally {
      running = undefined;
    }
  };
  return {
    synced() {
      if (next !== undefined) return next;
      if (running === undefined) return begin();
      next = running.then(begin, begin);
      return next;
    },
    async close() {
      while (running !== undefined) await (next ?? running).catch(() => undefined);
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}
