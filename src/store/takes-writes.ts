import { statfsSync } from "node:fs";
import { deleteRows, putRow } from "./rows.ts";
import type { Db } from "./schema.ts";
import { inTransaction } from "./transaction.ts";

/** Below this a batch cannot be stored, and SQLite's log may not grow. */
export const FREE_MIN_BYTES = 8 * 1_024 * 1_024;

/** Several pages of any engine, so that a database that cannot grow refuses it. */
const PROBE_UNITS = 32_768;
const PROBE_NAME = "write_probe";

export async function takesWrites(db: Db): Promise<boolean> {
  try {
    await writeProbe(db);
    await deleteRows(db, "installation", { name: PROBE_NAME });
    return true;
  } catch {
    return false;
  }
}

export const wouldTakeWrites = (db: Db): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    await writeProbe(tx.sql);
    tx.abandon();
    return true;
  }).catch(() => false);

const writeProbe = (db: Db): Promise<void> =>
  putRow(db, "installation", { name: PROBE_NAME }, { value: "x".repeat(PROBE_UNITS) });

export function hasRoom(folder: string, octets = 0): boolean {
  const { blocks, bavail, bsize } = statfsSync(folder);
  return blocks === 0 || bavail * bsize >= octets + FREE_MIN_BYTES; // 0 blocks: the file system does not count
}
