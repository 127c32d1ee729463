import { accessSync, constants } from "node:fs";
import { dirname, resolve } from "node:path";
import { DiskFull, StoreDown } from "../base/store-down.ts";

export type DatabaseFaultCode =
  | "newer_schema"
  | "older_schema"
  | "behind"
  | "locked"
  | "unwritable"
  | "full"
  | "unreadable"
  | "not_a_directory"
  | "not_a_database"
  | "unreachable"
  | "denied"
  | "no_database"
  | "too_old"
  | "other_key"
  | "unusable";

export class DatabaseFault extends Error {
  readonly code: DatabaseFaultCode;

  constructor(code: DatabaseFaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DatabaseFault";
    this.code = code;
  }
}

/** Primary result codes of SQLite (sqlite.org/rescode.html); an extended code keeps them in its low byte. */
const SQLITE_CODES = new Map<number, EmbeddedFaultCode>([
  [5, "locked"],
  [6, "locked"],
  [8, "unwritable"],
  [10, "unreadable"],
  [11, "not_a_database"],
  [13, "full"],
  [14, "unwritable"],
  [26, "not_a_database"],
]);

const SYSTEM_CODES = new Map<string, EmbeddedFaultCode>([
  ["EACCES", "unwritable"],
  ["EPERM", "unwritable"],
  ["EROFS", "unwritable"],
  ["ENOTDIR", "not_a_directory"],
  ["EEXIST", "not_a_directory"],
  ["EISDIR", "not_a_database"],
  ["EIO", "unreadable"],
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
]);

type EmbeddedFaultCode = keyof typeof SENTENCES;

const SENTENCES = {
  locked: "another process holds the database",
  unwritable: "this user may not write there",
  full: "the disk is full",
  unreadable: "its disk does not read or write it",
  not_a_directory: "it is not a directory",
  not_a_database: "the file is damaged or not a database",
  unusable: "the database cannot be opened",
};

function codeOf(error: unknown): EmbeddedFaultCode {
  if (error instanceof DiskFull) return "full";
  const origin = error instanceof StoreDown ? error.cause : error;
  const { errcode, code } = Object(origin) as {
    readonly errcode?: unknown;
    readonly code?: unknown;
  };
  const known =
    typeof errcode === "number" ? SQLITE_CODES.get(errcode & 0xff) : SYSTEM_CODES.get(String(code));
  return known ?? "unusable";
}

function isReadOnly(path: string): boolean {
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      accessSync(at, constants.W_OK);
      return false;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "ENOENT" || dirname(at) === at) return code === "EROFS";
    }
  }
}

/** What went wrong with the store at `path`; a fault that is one already stays as it is. */
export function databaseFault(path: string, error: unknown): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const code = codeOf(error);
  const sentence =
    code === "unwritable" && isReadOnly(path) ? "its file system is read-only" : SENTENCES[code];
  return new DatabaseFault(code, `data directory ${path}: ${sentence}`, { cause: error });
}
