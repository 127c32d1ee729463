import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { type CompiledQuery, Kysely, sql } from "kysely";
import { storeDownOf } from "../base/store-down.ts";
import { KEY_FILE } from "../base/secrets.ts";
import { DatabaseFault, databaseFault } from "./database-fault.ts";
import { copyBeforeUpgrade, LAST_BACK_UP } from "./embedded/back-up.ts";
import { type Disk, type LogSync, logSync, newDisk } from "./embedded/log-sync.ts";
import type { Database } from "./schema.ts";
import { lockForServing } from "./embedded/serving-lock.ts";
import {
  type Ailment,
  DATABASE_FILE,
  type EmbeddedAdapter,
  isBusy,
  openSqlite,
  sqliteDialect,
} from "./embedded/sqlite.ts";
import { hasRoom, takesWrites } from "./takes-writes.ts";
import { inTransaction } from "./transaction.ts";
import { migrate, needsSteps, type SchemaUse, type Upgrading } from "./upgrade.ts";

export interface SqlDatabase {
  readonly db: Kysely<Database>;
  /** Whether it answers and takes writes now, its disk included; for readiness. Never rejects. */
  readonly answers: () => Promise<boolean>;
  readonly ails?: () => Promise<Ailment | undefined>;
  readonly disk?: Disk;
  readonly file?: string | undefined;
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
  readonly file?: string | undefined;
  readonly schema?: SchemaUse;
  readonly upgrading?: Upgrading;
}

/** Creates a file readable by this user only. A thread, or a command beside a running server, creates none. */
function prepareFile(dataDir: string, { schema, file }: EmbeddedOptions): string {
  const path = join(dataDir, DATABASE_FILE);
  if (file !== undefined) {
    if (identity(path) === file) return path;
    throw new DatabaseFault("no_database", `data directory ${dataDir}: ${path} was deleted`);
  }
  if (schema === "create" && !existsSync(path)) lockForServing(dataDir)();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!statSync(dataDir).isDirectory()) {
    throw new DatabaseFault("not_a_directory", `data directory ${dataDir}: it is not a directory`);
  }
  // SQLite gives its -wal and -shm files the mode of the database file. A file that is there is not opened here: closing
  // any descriptor of it ends the locks that this process has on it, by POSIX. Then the next command that ends takes
  // itself for the last user and deletes the log, which this process goes on writing.
  const known = statSync(path, { throwIfNoEntry: false });
  refuseLost(dataDir, known?.size);
  if (known?.isFile() !== true) closeSync(openSync(path, "a", 0o600));
  else if ((known.mode & 0o077) !== 0) chmodSync(path, 0o600);
  return path;
}

/** Made after the first database: beside a missing or empty one they say that something was lost. */
const isLeft = (name: string): boolean =>
  name === KEY_FILE || name === LAST_BACK_UP || /^gatepost\.schema-\d+\.db$/.test(name);

function refuseLost(dataDir: string, octets: number | undefined): void {
  if ((octets ?? 0) > 0) return;
  const log = `${DATABASE_FILE}-wal`;
  const logOctets = statSync(join(dataDir, log), { throwIfNoEntry: false })?.size ?? 0;
  if (octets !== undefined && logOctets > 0) return;
  const left = readdirSync(dataDir).filter(
    (name) => isLeft(name) || (name === log && logOctets > 0),
  );
  if (left.length === 0) return;
  const message =
    `data directory ${dataDir}: ${left.join(", ")} ${left.length === 1 ? "is" : "are"} there, but ${DATABASE_FILE} is ` +
    "missing or empty, so the data of this installation is lost or elsewhere. Restore a back-up, or move " +
    `${left.join(", ")} away to begin anew`;
  throw new DatabaseFault("no_database", message);
}

/** The same for the same file, wherever it was moved; undefined where none is. */
function identity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${String(found.dev)}:${String(found.ino)}`;
}

function logOf(path: string, disk: Disk, waitsForDisk: boolean): LogSync {
  const log = logSync(`${path}-wal`, { disk });
  return waitsForDisk ? log : { ...log, synced: () => Promise.resolve() };
}

/** Opens the embedded database, ":memory:" a new one, and brings it to this program's schema. Throws a `DatabaseFault`. */
export async function openEmbedded(
  dataDir: string,
  nowMs: number,
  options: EmbeddedOptions = {},
): Promise<SqlDatabase> {
  try {
    return await open(dataDir, nowMs, options);
  } catch (error) {
    throw databaseFault(dataDir, error);
  }
}

async function open(
  dataDir: string,
  nowMs: number,
  options: EmbeddedOptions,
): Promise<SqlDatabase> {
  const { busyTimeoutMs = 5_000, waitsForDisk = true, upgrading = {}, disk = newDisk() } = options;
  const isOnDisk = dataDir !== IN_MEMORY;
  const path = isOnDisk ? prepareFile(dataDir, options) : IN_MEMORY;
  const file = openSqlite(path, busyTimeoutMs);
  if (isOnDisk && waitsForDisk) {
    file.exec(`pragma wal_autocheckpoint = ${String(LOG_PAGES_MAX)}`);
  }
  const log = isOnDisk ? logOf(path, disk, waitsForDisk) : undefined;
  const dialect = sqliteDialect(file, { busyTimeoutMs, log });
  const db: Kysely<Database> = new Kysely<Database>({ dialect });
  try {
    if (await needsSteps(db, options.schema ?? "migrate", upgrading.migrations)) {
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
  const ails = watchFile(db, { dataDir, path, log });
  return {
    db,
    answers: async () => (await ails()) === undefined,
    ails,
    disk,
    file: isOnDisk ? identity(path) : undefined,
    shrink() {
      try {
        file.exec(`pragma incremental_vacuum(${String(SHRINK_PAGES)})`);
      } catch (error) {
        if (!isBusy(error)) throw error; // the next call will do
      }
    },
    close: () => db.destroy(),
  };
}

interface WatchedFile {
  readonly dataDir: string;
  readonly path: string;
  readonly log: LogSync | undefined;
}

function watchFile(
  db: Kysely<Database>,
  { dataDir, path, log }: WatchedFile,
): () => Promise<Ailment | undefined> {
  const { driver } = db.getExecutor().adapter as EmbeddedAdapter;
  const opened = log && identity(path);
  const look = async (): Promise<Ailment | undefined> => {
    if (log !== undefined) {
      const isGone = identity(path) !== opened || !existsSync(`${path}-wal`);
      log.noteGone(isGone);
      if (isGone) return "gone";
      if (log.refusal() !== undefined) return "refused";
      if (!hasRoom(dataDir)) return "full";
    }
    // Asked of the file itself and not of pages in memory.
    if (driver.ailing !== undefined) await sql`pragma shrink_memory`.execute(db);
    if (!(await takesWrites(db))) return driver.ailing?.why ?? "silent";
    const { ailing } = driver;
    if (ailing?.query !== undefined) await askAgain(db, ailing.query);
    if (driver.ailing === ailing) driver.ailing = undefined;
    return driver.ailing?.why;
  };
  return () => look().catch(() => driver.ailing?.why ?? "silent");
}

/** Asks what failed by a fault of the file once more; changes nothing. */
async function askAgain(db: Kysely<Database>, query: CompiledQuery): Promise<void> {
  const asking = inTransaction(db, async (tx) => {
    await tx.sql.executeQuery(query);
    tx.abandon();
  });
  await asking.catch((fault: unknown) => {
    if (storeDownOf(fault) !== undefined) throw fault; // else the file could be read
  });
}
