import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { Kysely } from "kysely";
import { KEY_FILE } from "../base/secrets.ts";
import { DatabaseFault, databaseFault } from "./database-fault.ts";
import { copyBeforeUpgrade } from "./embedded/back-up.ts";
import { type Disk, type LogSync, logSync, newDisk } from "./embedded/log-sync.ts";
import type { Database } from "./schema.ts";
import { DATABASE_FILE, isBusy, openSqlite, sqliteDialect } from "./embedded/sqlite.ts";
import { hasRoom, takesWrites } from "./takes-writes.ts";
import { migrate, needsSteps, type SchemaUse, type Upgrading } from "./upgrade.ts";

/** One open store. The adapters made on the same `db` share its transactions. */
export interface SqlDatabase {
  readonly db: Kysely<Database>;
  /** Whether it answers and takes writes now, its disk included; for readiness. Never rejects. */
  readonly answers: () => Promise<boolean>;
  readonly refusal?: () => unknown;
  readonly disk?: Disk;
  /** Gives up to 8 MB of free pages back to the file system; absent where the server does that. */
  readonly shrink?: () => void;
  /** Waits for the query that runs; call it last, after every adapter has stopped. */
  readonly close: () => Promise<void>;
}

const IN_MEMORY = ":memory:";

/** Of 4 KiB. More would hold the file's lock for longer than a request should wait. */
const SHRINK_PAGES = 2_000;

/** Of 4 KiB. The bulk thread copies the log, which takes two syncs of the disk; this is for when it does not. */
const LOG_PAGES_MAX = 16_000;

export interface EmbeddedOptions {
  readonly busyTimeoutMs?: number;
  /** False: writes do not wait for the disk, and a machine that fails may lose the last of them. */
  readonly waitsForDisk?: boolean;
  readonly disk?: Disk | undefined;
  readonly schema?: SchemaUse;
  readonly upgrading?: Upgrading;
}

/** Creates the directory, and a file readable by this user only: it holds password hashes and addresses. */
function prepareFile(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!statSync(dataDir).isDirectory()) {
    throw new DatabaseFault("not_a_directory", `data directory ${dataDir}: it is not a directory`);
  }
  const path = join(dataDir, DATABASE_FILE);
  // SQLite gives its -wal and -shm files the mode of the database file. A file that is there is not opened here: closing
  // any descriptor of it ends the locks that this process has on it, by POSIX. Then the next command that ends takes
  // itself for the last user and deletes the log, which this process goes on writing.
  const known = statSync(path, { throwIfNoEntry: false });
  refuseLost(dataDir, path, known?.size ?? 0);
  if (known?.isFile() !== true) closeSync(openSync(path, "a", 0o600));
  else if ((known.mode & 0o077) !== 0) chmodSync(path, 0o600);
  return path;
}

/** The key is made after the first database: beside a missing or empty one it says that something was lost. */
function refuseLost(dataDir: string, path: string, octets: number): void {
  if (octets > 0 || (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  if (!existsSync(join(dataDir, KEY_FILE))) return;
  const message =
    `data directory ${dataDir}: ${KEY_FILE} is there, but ${DATABASE_FILE} is missing or empty, so the data of this ` +
    `installation is lost or elsewhere. Restore a back-up, or move ${KEY_FILE} away to begin anew`;
  throw new DatabaseFault("no_database", message);
}

function logOf(path: string, disk: Disk, waitsForDisk: boolean): LogSync {
  const log = logSync(`${path}-wal`, { disk });
  return waitsForDisk ? log : { ...log, synced: () => Promise.resolve() };
}

/** Opens the embedded database, ":memory:" a new one, and brings it to this program's schema. Throws a `DatabaseFault`. */
export async function openEmbedded(
  dataDir: string,
  nowMs: number,
  {
    busyTimeoutMs = 5_000,
    waitsForDisk = true,
    schema = "migrate",
    upgrading = {},
    disk = newDisk(),
  }: EmbeddedOptions = {},
): Promise<SqlDatabase> {
  try {
    const isOnDisk = dataDir !== IN_MEMORY;
    const path = isOnDisk ? prepareFile(dataDir) : IN_MEMORY;
    const file = openSqlite(path, busyTimeoutMs);
    if (isOnDisk && waitsForDisk) {
      file.exec(`pragma wal_autocheckpoint = ${String(LOG_PAGES_MAX)}`);
    }
    const log = isOnDisk ? logOf(path, disk, waitsForDisk) : undefined;
    const dialect = sqliteDialect(file, { busyTimeoutMs, log });
    const db: Kysely<Database> = new Kysely<Database>({ dialect });
    try {
      if (await needsSteps(db, schema, upgrading.migrations)) {
        const copy = (from: number): string => copyBeforeUpgrade(dataDir, from);
        // References are looked at when all is done: within a transaction they cannot be switched off.
        file.exec("pragma foreign_keys = off");
        await migrate(db, nowMs, isOnDisk ? { ...upgrading, copy } : upgrading);
        file.exec("pragma foreign_keys = on");
      }
    } catch (error) {
      await db.destroy();
      throw error;
    }
    const answers = async (): Promise<boolean> =>
      (!isOnDisk || hasRoom(dataDir)) && takesWrites(db);
    return {
      db,
      answers: () => answers().catch(() => false),
      refusal: () => log?.refusal(),
      disk,
      shrink() {
        try {
          file.exec(`pragma incremental_vacuum(${String(SHRINK_PAGES)})`);
        } catch (error) {
          if (!isBusy(error)) throw error; // the next call will do
        }
      },
      close: () => db.destroy(),
    };
  } catch (error) {
    throw databaseFault(dataDir, error);
  }
}
