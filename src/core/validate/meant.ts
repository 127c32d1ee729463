import { type EntryMode, readEntry } from "../address/entry.ts";
import { malformedTarget } from "../evidence/typo.ts";
import type { FullResult } from "./result.ts";

/**
 * The malformed entry with the large provider's domain that was meant: "jo@gmail.com" for "jo@gmail..com". Undefined when
 * no provider is near, or the entry would still be malformed.
 */
export function meantByMalformed(text: string, mode: EntryMode): string | undefined {
  const entry = text.trim();
  const at = entry.lastIndexOf("@");
  const provider = malformedTarget(entry.slice(at + 1));
  if (provider === undefined) return undefined;
  const meant = entry.slice(0, at + 1) + provider;
  return meant === entry || readEntry(meant, mode).kind === "malformed" ? undefined : meant;
}

/** The entry that was probably meant: the result says so of a misspelled provider, not of a malformed entry. */
export const meantBy = ({ meant, result }: Meaning): string | undefined =>
  meant ?? result.did_you_mean;

interface Meaning {
  readonly meant?: string;
  readonly result: Pick<FullResult, "did_you_mean">;
}
