export type DatabaseFaultCode =
  | "newer_schema"
  | "older_schema"
  | "locked"
  | "unwritable"
  | "full"
  | "not_a_directory"
  | "not_a_database"
  | "unreachable"
  | "denied"
  | "no_database"
  | "too_old"
  | "unusable";

/** The store cannot be used; the message tells the operator why. Match on `code`. */
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
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
]);

type EmbeddedFaultCode = Exclude<
  DatabaseFaultCode,
  "newer_schema" | "older_schema" | "unreachable" | "denied" | "no_database" | "too_old"
>;

const SENTENCES: Readonly<Record<EmbeddedFaultCode, string>> = {
  locked: "another process holds the database",
  unwritable: "this user may not write there",
  full: "the disk is full",
  not_a_directory: "it is not a directory",
  not_a_database: "the file is damaged or not a database",
  unusable: "the database cannot be opened",
};

function codeOf(error: unknown): EmbeddedFaultCode {
  if (typeof error !== "object" || error === null) return "unusable";
  if ("errcode" in error && typeof error.errcode === "number") {
    return SQLITE_CODES.get(error.errcode & 0xff) ?? "unusable";
  }
  if ("code" in error && typeof error.code === "string") {
    return SYSTEM_CODES.get(error.code) ?? "unusable";
  }
  return "unusable";
}

/** What went wrong with the store at `path`; a fault that is one already stays as it is. */
export function databaseFault(path: string, error: unknown): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const code = codeOf(error);
  return new DatabaseFault(code, `data directory ${path}: ${SENTENCES[code]}`, { cause: error });
}
