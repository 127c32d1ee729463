import { type EntryFault, readEntry } from "../address/entry.ts";
import { type FormatProblem, formatProblem } from "../validate/fault-words.ts";
import { meantByMalformed, withLostAt } from "../validate/meant.ts";
import type { FullResult } from "../validate/result.ts";

/** What the results of a list say about an entry beyond its validation. */
export interface EntryNote extends FormatProblem {
  readonly did_you_mean?: string;
}

/** A result of a list with its note. */
export type NotedResult = FullResult & Partial<FormatProblem>;

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
  const isDomain = entry.kind === "domain";
  if (entry.kind === "address" || (isDomain && among === "anything")) return undefined;
  const meant = withLostAt(text);
  if (meant === undefined) return isDomain ? BARE_DOMAIN : malformedNote(text, entry.fault);
  return {
    code: "lost_at",
    message: `The "@" is missing. Did you mean ${meant}?`,
    did_you_mean: meant,
  };
}

/** With what was meant, when the domain of a malformed address or the malformed domain is near a large provider. */
function malformedNote(text: string, fault: EntryFault): EntryNote {
  const problem = formatProblem(fault);
  const meant = meantByMalformed(text, "either");
  return meant === undefined ? problem : { ...problem, did_you_mean: meant };
}

const BARE_DOMAIN: EntryNote = {
  code: "bare_domain",
  message: "This is a domain without a mailbox in a list of addresses.",
};

/** The result with its note; `did_you_mean` stands behind `signals`. */
export function withNote(result: FullResult, note: EntryNote): NotedResult {
  const { code, message, did_you_mean: meant } = note;
  if (meant === undefined) return { ...result, code, message };
  const members = Object.entries(result).flatMap(([name, value]): [string, unknown][] => {
    if (name === "did_you_mean") return [];
    return name === "signals"
      ? [
          [name, value],
          ["did_you_mean", meant],
        ]
      : [[name, value]];
  });
  return { ...(Object.fromEntries(members) as unknown as FullResult), code, message };
}
