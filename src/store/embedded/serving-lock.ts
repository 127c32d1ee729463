import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseFault, databaseFault } from "../database-fault.ts";
import { openSqlite } from "./sqlite.ts";

export const LOCK_FILE = "serving.lock";

/** Makes this process the only one that serves a data directory. Throws a `DatabaseFault` "locked" where another does. */
export function lockForServing(dataDir: string): () => void {
  const holder = lock(dataDir);
  locks.add(holder); // a connection that nobody refers to is collected, and its lock with it
  return () => {
    locks.delete(holder);
    holder.close();
  };
}

const locks = new Set<ReturnType<typeof openSqlite>>();

function lock(dataDir: string): ReturnType<typeof openSqlite> {
  let holder: ReturnType<typeof openSqlite> | undefined;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    if (!statSync(dataDir).isDirectory()) {
      const message = `data directory ${dataDir}: it is not a directory`;
      throw new DatabaseFault("not_a_directory", message);
    }
    holder = openSqlite(join(dataDir, LOCK_FILE), 0);
    holder.exec("begin exclusive");
    return holder;
  } catch (cause) {
    holder?.close();
    const fault = databaseFault(dataDir, cause);
    if (fault.code !== "locked") throw fault;
    const message = `data directory ${dataDir}: another gatepost serves it`;
    throw new DatabaseFault("locked", message, { cause });
  }
}
