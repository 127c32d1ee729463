import { closeSync, fdatasync, openSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { type Kysely, sql } from "kysely";
import type { Database } from "../schema.ts";

/** Others read and write for some milliseconds at a time; the bulk thread copies the log itself every 5 s. */
const LOOKS = 100;
const LOOK_EVERY_MS = 5;

/** Copies the write-ahead log into the database's file and empties it. Rejects when others use the log all the time. */
export async function copyLog(db: Kysely<Database>): Promise<void> {
  for (let looks = 1; looks <= LOOKS; looks += 1) {
    const { rows } = await sql<{ readonly busy: number }>`pragma wal_checkpoint(truncate)`.execute(
      db,
    );
    if (rows[0]?.busy === 0) return;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error("the log could not be copied into the database");
}

/** Waits for the disk beside the thread that commits. */
export interface LogSync {
  /**
   * Resolves when all that was committed before the call would outlive a power cut. Calls that come while the disk works
   * share its next round. Rejects when the disk refuses, and from then on always: a machine that fails may lose those
   * commits.
   */
  readonly synced: () => Promise<void>;
  /** What the disk refused with. Linux takes the pages for written then, so that later syncs say nothing. */
  readonly refusal: () => unknown;
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
  let refusal: unknown;
  const write = async (): Promise<void> => {
    if (refusal !== undefined) throw refusal;
    descriptor ??= openSync(log, "r+"); // some systems sync only what may be written
    try {
      await sync(descriptor);
    } catch (error) {
      refusal = error;
      throw error;
    }
  };
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = async (): Promise<void> => {
    next = undefined;
    running = write();
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
    refusal: () => refusal,
    async close() {
      while (running !== undefined) await (next ?? running).catch(() => undefined);
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}
