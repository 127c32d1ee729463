import { SIGNALS } from "../../core/evidence/signals.ts";
import type { ListRow } from "../api/shapes.ts";
import type { Mark } from "./verdict.ts";

export const FILTERS = [
  ["all", "All"],
  ["valid", "Valid"],
  ["disposable", "Disposable"],
  ["dns", "No mail server"],
  ["unsure", "Could not tell"],
  ["typo", "Misspelt"],
  ["format", "Bad format"],
] as const;
export type Filter = (typeof FILTERS)[number][0];

const isUnsure = ({ signals }: ListRow): boolean => signals.includes("dns_indeterminate");

const MATCHES: Readonly<Record<Filter, (row: ListRow) => boolean>> = {
  all: () => true,
  valid: ({ fate }) => fate === "valid",
  disposable: ({ fate }) => fate === "disposable",
  dns: (row) => row.fate === "invalidDns" && !isUnsure(row),
  unsure: (row) => row.fate === "invalidDns" && isUnsure(row),
  typo: ({ signals }) => signals.includes("typo_domain"),
  format: ({ fate }) => fate === "invalidFormat",
};

/** What is asked of rows; absent and "" ask nothing. */
export interface Sought {
  readonly filter?: Filter;
  /** A sentence of `rowReason`. */
  readonly reason?: string;
  /** In any case. */
  readonly text?: string;
}

/** Rows of one kind and one reason that contain `text`. */
export function filterRows(
  rows: readonly ListRow[],
  { filter = "all", reason = "", text = "" }: Sought,
): readonly ListRow[] {
  const sought = text.trim().toLowerCase();
  const matches = MATCHES[filter];
  return rows.filter(
    (row) =>
      matches(row) &&
      (reason === "" || rowReason(row) === reason) &&
      (sought === "" || row.entry.toLowerCase().includes(sought)),
  );
}

/** The reasons of rows and how many have each, the most frequent first. */
export function reasonsOf(
  rows: readonly ListRow[],
): readonly (readonly [reason: string, rows: number])[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const reason = rowReason(row);
    if (reason !== "") counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** How many rows each filter would leave. */
export const countsOf = (rows: readonly ListRow[]): Readonly<Record<Filter, number>> =>
  Object.fromEntries(
    FILTERS.map(([filter]) => [filter, rows.filter(MATCHES[filter]).length]),
  ) as Record<Filter, number>;

export interface RowVerdict {
  readonly mark: Mark;
  readonly words: string;
}

export function rowVerdict(row: ListRow): RowVerdict {
  switch (row.fate) {
    case "valid":
      return { mark: "yes", words: "Valid" };
    case "disposable":
      return { mark: "no", words: `Disposable ${String(row.confidence)}` };
    case "invalidFormat":
      return { mark: "quiet", words: "Bad format" };
    case "invalidDns":
      return isUnsure(row)
        ? { mark: "unsure", words: "Could not tell" }
        : { mark: "no", words: "No mail server" };
  }
}

/** The strongest evidence in a sentence; "" when there is none. */
export function rowReason({ entry, fate, signals }: ListRow): string {
  if (fate === "invalidFormat") {
    return /^[^@\s]+\.[^@\s]+$/.test(entry)
      ? "The @ is missing."
      : "It is not written like an address or a domain.";
  }
  const first = signals[0];
  return first === undefined ? "" : SIGNALS[first].short;
}
