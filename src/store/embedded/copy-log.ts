import { setTimeout as pause } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { Database } from "../schema.ts";

/** Others read and write for some milliseconds at a time; the bulk thread copies the log itself every 5 s. */
const LOOKS = 100;
const LOOK_EVERY_MS = 5;

/**
 * Copies the write-ahead log into the database's file, syncs the file and empties the log
 * (sqlite.org/pragma.html#pragma_wal_checkpoint). Rejects when others use the log all the time, or the disk refuses.
 */
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
