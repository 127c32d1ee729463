import type { CsvCell } from "./csv-text.ts";
import type { NotedResult } from "./entry-note.ts";
import { type Fate, fateOf } from "./tally.ts";

/** The summary's words for what an entry counts as. */
const STATUS: Readonly<Record<Fate, string>> = {
  valid: "valid",
  disposable: "disposable",
  invalidDns: "invalid_dns",
  invalidFormat: "invalid_format",
};

type Cell = (result: NotedResult) => CsvCell;

/** A result as columns of a table, by their names; lists are joined with blanks. */
const COLUMNS = {
  status: (result) => STATUS[fateOf(result)],
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

export const RESULT_COLUMNS: readonly string[] = Object.keys(COLUMNS);

const CELLS: readonly Cell[] = Object.values(COLUMNS);

/** One cell for each of `RESULT_COLUMNS`; all are empty without a result. */
export function resultCells(result: NotedResult | undefined): readonly CsvCell[] {
  return CELLS.map((cell) => (result === undefined ? undefined : cell(result)));
}
