import { type FullResult, isInconclusive } from "../validate/result.ts";
import { type EntryClass, entryClassOf } from "./batch-chunk.ts";
import { readEntry } from "../address/address.ts";
import {
  type FormatCode,
  SLIP_WORDS,
  formatProblem,
  withLostAt,
  withMeant,
} from "../validate/malformed.ts";

export interface EntryNote {
  readonly code: FormatCode | "bare_domain";
  readonly message: string;
  readonly did_you_mean?: string;
}

export type NotedResult = FullResult & Partial<Pick<EntryNote, "code" | "message">>;

/** Among addresses an entry without an at sign is suspicious. */
export type ListKind = "addresses" | "anything";

/** Entries with an at sign less those without; above 0 a list is one of addresses. */
export function addressBalance(entries: Iterable<string>): number {
  let balance = 0;
  for (const entry of entries) balance += entry.includes("@") ? 1 : -1;
  return balance;
}

/** Why its format is bad, or that it is an address without its at sign. A domain is suspicious among addresses only. */
export function entryNote(text: string, among: ListKind): EntryNote | undefined {
  const entry = readEntry(text, "either");
  if (entry.kind === "address" || (entry.kind === "domain" && among === "anything"))
    return undefined;
  if (entry.kind === "malformed") {
    const { meant, ...problem } = formatProblem(text, "either", entry.fault);
    return { ...problem, ...(meant !== undefined && { did_you_mean: meant }) };
  }
  const meant = withLostAt(text);
  if (meant === undefined) return BARE_DOMAIN;
  return { code: "lost_at", message: SLIP_WORDS.lost_at, did_you_mean: meant };
}

const BARE_DOMAIN: EntryNote = {
  code: "bare_domain",
  message: "This is a domain without a mailbox in a list of addresses.",
};

export const withNote = (
  result: FullResult,
  { code, message, did_you_mean: meant }: EntryNote,
): NotedResult => ({
  ...withMeant(result, meant),
  code,
  message,
});

/** What a spreadsheet takes for the start of a formula, also in other widths and behind what is drawn as nothing. */
const FORMULA_START =
  /^[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*([=\uff1d\ufe66]|[+\-@\u2212\ufe62\ufe63\ufe6b\uff0b\uff0d\uff20])/u;

/** Numbers, telephone numbers, several as contacts have them, and handles: it shows them as they are. */
const NO_FORMULA = /^\s*(?:[+-](?:[\d\s().,;/%-]|:::|(?<=[,;:]\s?)\+)*|@[\w.-]*)$/;

const isLikeFormula = (cell: string): boolean => FORMULA_START.test(cell) && !NO_FORMULA.test(cell);

/** Where a cell begins for a program that divides by another separator, whatever the quotes. */
const PARTS = /(?<=[,;\t\r\n])/;

const guard = (text: string): string => (isLikeFormula(text) ? `'${text}` : text);

const unguard = (text: string): string =>
  text.startsWith("'") && isLikeFormula(text.slice(1)) ? text.slice(1) : text;

const inParts = (cell: string, change: (part: string) => string): string => {
  const [first = "", ...others] = cell.split(PARTS);
  return others.length === 0 ? cell : first + others.map(change).join("");
};

/** A cell of a file of ours as it was before `csvLine` guarded it. */
export const unguarded = (cell: string): string =>
  cell.includes("'") ? unguard(inParts(cell, unguard)) : cell;

const NEEDS_QUOTES = /["\r\n,;\t|]/;

export type CsvCell = string | number | boolean | undefined;

/** One line of CSV (RFC 4180), its end included; what begins like a formula, at its start or behind a separator, gets a `'`. */
export const csvLine = (cells: readonly CsvCell[], delimiter = ",", end = "\r\n"): string =>
  cells.map((cell) => csvCell(cell, delimiter)).join(delimiter) + end;

function csvCell(cell: CsvCell, delimiter: string): string {
  if (cell === undefined || cell === "") return delimiter === " " ? '""' : "";
  if (typeof cell !== "string") return String(cell);
  const safe = inParts(guard(cell), guard);
  return NEEDS_QUOTES.test(safe) || safe.includes(delimiter)
    ? `"${safe.replaceAll('"', '""')}"`
    : safe;
}

const STATUS: Readonly<Record<EntryClass, string>> = {
  valid: "valid",
  disposable: "disposable",
  invalidDns: "invalid_dns",
  invalidFormat: "invalid_format",
};

export const NOT_READ = "not_read";

const NOT_CHECKED = "not_checked";

/** "unknown" when DNS did not answer: nobody could tell, and the summary counts it as `invalid_dns`. */
export function statusOf(result: NotedResult): string {
  const kind = entryClassOf(result);
  return kind === "invalidDns" && isInconclusive(result) ? "unknown" : STATUS[kind];
}

type Cell = (result: NotedResult) => CsvCell;

const COLUMNS = {
  status: statusOf,
  format: ({ format }) => format,
  domain: ({ domain }) => domain,
  disposable: ({ disposable }) => disposable,
  dns: ({ dns }) => dns,
  confidence: ({ confidence }) => confidence,
  whitelist: ({ whitelist }) => whitelist,
  signals: ({ signals }) => signals.join(" "),
  did_you_mean: ({ did_you_mean }) => did_you_mean,
  tld: (result) => result.domain_info?.tld,
  is_subdomain: (result) => result.domain_info?.is_subdomain,
  parent_domain: (result) => result.domain_info?.parent_domain ?? undefined,
  mx_info: (result) => result.mx_info?.join(" "),
  role: ({ role }) => role,
  free: ({ free }) => free,
  alias: ({ alias }) => alias,
  spam_trap: (result) => result.spam_trap?.is_trap,
  code: ({ code }) => code,
  message: ({ message }) => message,
} satisfies Record<string, Cell>;

const CELLS: readonly Cell[] = Object.values(COLUMNS);

export interface RowNote {
  readonly readAs?: string | undefined;
  readonly isDuplicate?: boolean;
  readonly reason?: string | undefined;
  readonly was?: string | undefined;
  readonly isUnchecked?: boolean;
}

export const RESULT_COLUMNS: readonly string[] = Object.keys(COLUMNS);

const CODE_AT = RESULT_COLUMNS.indexOf("code");
const MESSAGE_AT = RESULT_COLUMNS.indexOf("message");

export const resultCells = (result: NotedResult): readonly CsvCell[] =>
  CELLS.map((cell) => cell(result));

/** The cells of a row with those of its results; of several entries a cell has the value that all share, or one each. */
export function rowCells(each: readonly (readonly CsvCell[])[], note: RowNote): readonly CsvCell[] {
  const { readAs, isDuplicate, reason, was, isUnchecked } = note;
  if (reason !== undefined) {
    return RESULT_COLUMNS.map((_, at) =>
      at === 0 ? NOT_READ : at === MESSAGE_AT ? reason : undefined,
    );
  }
  const cells: CsvCell[] = CELLS.map((_, at) => {
    const values = each.map((one) => one[at] ?? "");
    return new Set(values).size <= 1 ? values[0] : values.join("; ");
  });
  const add = (at: number, text: string): void => {
    cells[at] = [cells[at] ?? "", text].filter((part) => part !== "").join(" ");
  };
  if (isUnchecked === true) {
    cells[0] = NOT_CHECKED;
    add(MESSAGE_AT, "It was not checked.");
  }
  if (was !== undefined) {
    add(CODE_AT, "fixed");
    add(MESSAGE_AT, `It was ${was}.`);
  }
  if (readAs !== undefined && was === undefined) {
    add(CODE_AT, "fixed");
    add(MESSAGE_AT, `Read as ${readAs}.`);
  }
  if (isDuplicate === true) {
    add(CODE_AT, "duplicate");
    add(MESSAGE_AT, "It stands in a row before.");
  }
  return cells;
}
