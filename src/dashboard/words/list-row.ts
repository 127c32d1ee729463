import { SIGNALS } from "../../core/evidence/signals.ts";
import type { ListRow } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import type { Mark } from "./verdict.ts";

/** What an entry of a list came to, for people. Each entry is of one kind, so that the counts add up. */
export const KINDS = ["good", "disposable", "dns", "unsure", "format"] as const;
export type Kind = (typeof KINDS)[number];

/** Codes of addresses that are not whole; their domain alone was checked. */
const NOT_WHOLE: ReadonlySet<string> = new Set(["lost_at", "bare_domain"]);

const isUnsure = ({ signals }: ListRow): boolean => signals.includes("dns_indeterminate");

export function kindOf(row: ListRow): Kind {
  if (row.fate === "invalidFormat" || NOT_WHOLE.has(row.code)) return "format";
  if (row.fate === "valid") return "good";
  if (row.fate === "disposable") return "disposable";
  return isUnsure(row) ? "unsure" : "dns";
}

/** Whether its domain is probably misspelt. A lost "@" is a slip of its own. */
export const isMisspelt = ({ signals, meant, code }: ListRow): boolean =>
  signals.includes("typo_domain") || (meant !== "" && signals.length > 0 && code !== "lost_at");

/** An address that lost its "@", with what was probably meant. */
export const isLostAt = ({ code, meant }: ListRow): boolean => code === "lost_at" && meant !== "";

export const FILTERS = [
  ["look", "To look at"],
  ["all", "All"],
  ["good", "Good"],
  ["typo", "Misspelt"],
  ["disposable", "Disposable"],
  ["dns", "No mail server"],
  ["unsure", "Could not tell"],
  ["format", "Bad format"],
] as const;
export type Filter = (typeof FILTERS)[number][0];

const MATCHES: Readonly<Record<Filter, (row: ListRow) => boolean>> = {
  look: (row) => kindOf(row) !== "good" || isMisspelt(row),
  all: () => true,
  good: (row) => kindOf(row) === "good",
  typo: isMisspelt,
  disposable: (row) => kindOf(row) === "disposable",
  dns: (row) => kindOf(row) === "dns",
  unsure: (row) => kindOf(row) === "unsure",
  format: (row) => kindOf(row) === "format",
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

const VERDICTS: Readonly<Record<Kind, readonly [mark: Mark, words: string]>> = {
  good: ["yes", "Good"],
  disposable: ["no", "Disposable"],
  dns: ["no", "No mail server"],
  unsure: ["quiet", "Could not tell"],
  format: ["no", "Bad format"],
};

/** A misspelling comes first, because it can be repaired. */
export function rowVerdict(row: ListRow): RowVerdict {
  if (isMisspelt(row)) return { mark: "unsure", words: t("Misspelt") };
  const [mark, words] = VERDICTS[kindOf(row)];
  return { mark, words: t(words) };
}

const CODES: Readonly<Record<string, string>> = {
  lost_at: "The @ is missing.",
  bare_domain: "A domain without the part before the @.",
};

/** The strongest evidence in a sentence; "" when there is none. */
export function rowReason({ fate, signals, code }: ListRow): string {
  const words = CODES[code];
  if (words !== undefined) return t(words);
  if (fate === "invalidFormat") return t("It is not written like an address or a domain.");
  if (signals.includes("typo_domain")) return t(SIGNALS.typo_domain.short);
  const first = signals[0];
  return first === undefined ? "" : t(SIGNALS[first].short);
}
