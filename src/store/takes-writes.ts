import { statfsSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** Below this a batch cannot be stored, and SQLite's log may not grow. */
export const FREE_MIN_BYTES = 8 * 1_024 * 1_024;

/** Several pages of any engine, so that a database that cannot grow refuses it. */
const PROBE_UNITS = 32_768;
const PROBE_NAME = "write_probe";

/** Whether the database stores a row now. Never rejects. */
export async function takesWrites(db: Kysely<Database>): Promise<boolean> {
  const value = "x".repeat(PROBE_UNITS);
  try {
    await db
      .insertInto("installation")
      .values({ name: PROBE_NAME, value })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
      .execute();
    await db.deleteFrom("installation").where("name", "=", PROBE_NAME).execute();
    return true;
  } catch {
    return false;
  }
}

export function hasRoom(folder: string): boolean {
  const { blocks, bavail, bsize } = statfsSync(folder);
  return blocks === 0 || bavail * bsize >= FREE_MIN_BYTES; // 0 blocks: the file system does not count
}
