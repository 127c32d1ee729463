import { readEntry } from "../address/entry.ts";
import { type FormatCode, formatProblem, withLostAt, withMeant } from "../validate/malformed.ts";
import { SLIP_WORDS } from "../validate/fault-words.ts";
import type { FullResult } from "../validate/result.ts";

/** What the results of a list say about an entry beyond its validation. */
export interface EntryNote {
  /** A stable word for programs. */
  readonly code: FormatCode | "bare_domain";
  readonly message: string;
  readonly did_you_mean?: string;
}

/** A result of a list with its note. */
export type NotedResult = FullResult & Partial<Pick<EntryNote, "code" | "message">>;

/** Among addresses an entry without an at sign is suspicious. */
export type ListKind = "addresses" | "anything";

/** Entries with an at sign less those without; above 0 a list is one of addresses. */
export function addressBalance(entries: Iterable<string>): number {
  let balance = 0;
  for (const entry of entries) balance += entry.includes("@") ? 1 : -1;
  return balance;
}

/**
 * Why the format of an entry is bad, and whether it is an address that lost its at sign. A well-formed domain is suspicious
 * among addresses only.
 */
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

/** The result with its note; `did_you_mean` stands behind `signals`. */
export const withNote = (
  result: FullResult,
  { code, message, did_you_mean: meant }: EntryNote,
): NotedResult => ({
  ...withMeant(result, meant),
  code,
  message,
});
