import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseFault, databaseFault } from "../database-fault.ts";
import { hasRoom } from "../takes-writes.ts";
import { copySqlite, DATABASE_FILE } from "./sqlite.ts";

/** Copies the database to the new file `target` while it is used: of one moment, checked, flushed, without deleted rows. */
export function backUpEmbedded(dataDir: string, target: string): number {
  const source = join(dataDir, DATABASE_FILE);
  if (!existsSync(source)) {
    throw new DatabaseFault("unusable", `data directory ${dataDir}: there is no database in it`);
  }
  const draft = `${target}.${randomBytes(8).toString("hex")}.partial`;
  makeEmpty(draft, target);
  try {
    copyInto(draft, { source, dataDir });
    flush(draft);
    linkSync(draft, target); // unlike a rename it never replaces a file
  } catch (error) {
    throw refusal(target, error);
  } finally {
    rmSync(draft, { force: true });
  }
  flush(dirname(target));
  writeFileSync(join(dataDir, LAST_BACK_UP), "");
  return statSync(target).size;
}

/** Copies the database beside itself before an upgrade, and returns where to. A copy of the same schema is replaced. */
export function copyBeforeUpgrade(dataDir: string, schema: number): string {
  const source = join(dataDir, DATABASE_FILE);
  const target = join(dataDir, `gatepost.schema-${String(schema)}.db`);
  const draft = `${target}.partial`;
  rmSync(draft, { force: true });
  try {
    if (!hasRoom(dataDir, statSync(source).size)) throw noRoom(dataDir);
    closeSync(openSync(draft, "wx", 0o600));
    copyInto(draft, { source, dataDir });
    flush(draft);
    renameSync(draft, target);
  } catch (error) {
    const isOver = isFull(error) || databaseFault(dataDir, error).code === "full";
    throw isOver ? noRoom(dataDir, error) : error;
  } finally {
    rmSync(draft, { force: true });
  }
  flush(dataDir);
  return target;
}

function noRoom(dataDir: string, cause?: unknown): DatabaseFault {
  const message =
    `data directory ${dataDir}: an upgrade first copies the database beside itself, and the disk has no room for that; ` +
    "nothing was changed. Make room, and start again";
  return new DatabaseFault("full", message, { cause });
}

export const LAST_BACK_UP = "last-backup";

/** When the database of `dataDir` was copied last, in ISO 8601; undefined when that is not known. */
export const lastBackUp = (dataDir: string): string | undefined =>
  statSync(join(dataDir, LAST_BACK_UP), { throwIfNoEntry: false })?.mtime.toISOString();

function makeEmpty(draft: string, target: string): void {
  if (existsSync(target)) throw new Error(`${target}: there is a file already`);
  try {
    closeSync(openSync(draft, "wx", 0o600));
  } catch (error) {
    throw refusal(target, error);
  }
}

function copyInto(
  draft: string,
  { source, dataDir }: { readonly source: string; readonly dataDir: string },
): void {
  try {
    copySqlite(source, draft);
  } catch (error) {
    throw isFull(error) ? error : databaseFault(dataDir, error);
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === 13;

function refusal(target: string, error: unknown): Error {
  if (error instanceof DatabaseFault) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EEXIST") return new Error(`${target}: there is a file already`, { cause: error });
  if (code !== undefined && error instanceof Error) return Object.assign(error, { path: target });
  return new Error(`${target}: ${String(error)}`, { cause: error });
}

function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
