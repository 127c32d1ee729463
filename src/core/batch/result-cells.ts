import { isInconclusive } from "../validate/result.ts";
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

/** Status of a row that could not be read. */
export const NOT_READ = "not_read";

/** "unknown" when DNS did not answer: nobody could tell, and the summary counts it as `invalid_dns`. */
function statusOf(result: NotedResult): string {
  const fate = fateOf(result);
  return fate === "invalidDns" && isInconclusive(result) ? "unknown" : STATUS[fate];
}

type Cell = (result: NotedResult) => CsvCell;

/** A result as columns of a table, by their names; lists are joined with blanks. */
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

/** What is said of a row beside its result. */
export interface RowNote {
  /** What was read, where the cell says it in other words. */
  readonly readAs?: string;
  /** Whether each of its entries stood in a row before. */
  readonly isDuplicate?: boolean;
  /** Why nothing of it was checked. */
  readonly reason?: string;
}

/** Behind the columns of a list, in this order. */
export const RESULT_COLUMNS: readonly string[] = Object.keys(COLUMNS);

const CODE_AT = RESULT_COLUMNS.indexOf("code");
const MESSAGE_AT = RESULT_COLUMNS.indexOf("message");

/** One cell for each of `RESULT_COLUMNS`. */
export const resultCells = (result: NotedResult): readonly CsvCell[] =>
  CELLS.map((cell) => cell(result));

/** Whether the row is more than its one result. */
export const isNoted = ({ readAs, isDuplicate, reason }: RowNote): boolean =>
  readAs !== undefined || isDuplicate === true || reason !== undefined;

/** The cells of a row with its results; of several entries a cell has the value that all share, or one each. */
export function rowCells(results: readonly NotedResult[], note: RowNote): readonly CsvCell[] {
  const { readAs, isDuplicate, reason } = note;
  if (reason !== undefined) {
    return RESULT_COLUMNS.map((_, at) =>
      at === 0 ? NOT_READ : at === MESSAGE_AT ? reason : undefined,
    );
  }
  const each = results.map(resultCells);
  const cells: CsvCell[] = CELLS.map((_, at) => {
    const values = each.map((one) => one[at] ?? "");
    return new Set(values).size <= 1 ? values[0] : values.join("; ");
  });
  const add = (at: number, text: string): void => {
    cells[at] = [cells[at] ?? "", text].filter((part) => part !== "").join(" ");
  };
  if (readAs !== undefined) {
    add(CODE_AT, "fixed");
    add(MESSAGE_AT, `Read as ${readAs}.`);
  }
  if (isDuplicate === true) {
    add(CODE_AT, "duplicate");
    add(MESSAGE_AT, "It stands in a row before.");
  }
  return cells;
}
