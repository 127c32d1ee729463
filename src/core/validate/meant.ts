import { trimEntry } from "../address/trim.ts";
import { type EntryMode, readEntry } from "../address/entry.ts";
import { malformedTarget, providerAtEnd } from "../evidence/names/typo.ts";
import { ADDRESS_MAX_OCTETS } from "../limits.ts";
import type { FullResult } from "./result.ts";

/**
 * The malformed entry as it was probably meant: with the large provider's domain, "jo@gmail.com" for "jo@gmail..com", or
 * with its at sign. Undefined when no provider is near, or the entry would still be malformed.
 */
export function meantByMalformed(text: string, mode: EntryMode): string | undefined {
  return nearProvider(trimEntry(text), mode) ?? (mode === "domain" ? undefined : withLostAt(text));
}

function nearProvider(entry: string, mode: EntryMode): string | undefined {
  const at = entry.lastIndexOf("@");
  const provider = malformedTarget(entry.slice(at + 1));
  if (provider === undefined) return undefined;
  const meant = entry.slice(0, at + 1) + provider;
  return meant === entry || readEntry(meant, mode).kind === "malformed" ? undefined : meant;
}

/** The at sign as people write it out: "jo(at)web.de", "jo [at] web.de", "jo at web.de". */
const WRITTEN_AT = /\s*[([{<]\s*at\s*[)\]}>]\s*|\s+at\s+/i;

/**
 * The address that `text` is with the at sign that it lacks: it is written out, or stood before a large provider's
 * name, as in "zo1827gmail.com" and "ann.lee.web.de". Undefined when there is one, or nothing looks like an address.
 */
export function withLostAt(text: string): string | undefined {
  const entry = trimEntry(text);
  if (entry.length > ADDRESS_MAX_OCTETS || entry.includes("@")) return undefined;
  const written = entry.replace(WRITTEN_AT, "@");
  const meant = written === entry ? beforeProvider(entry) : written;
  if (meant === undefined || readEntry(meant, "address").kind === "malformed") return undefined;
  return meant;
}

function beforeProvider(entry: string): string | undefined {
  const provider = providerAtEnd(entry.toLowerCase());
  if (provider === undefined) return undefined;
  return `${entry.slice(0, -provider.length).replace(/\.$/, "")}@${provider}`;
}

/** The entry that was probably meant: the result says so of a misspelled provider, not of a malformed entry. */
export const meantBy = ({ meant, result }: Meaning): string | undefined =>
  meant ?? result.did_you_mean;

interface Meaning {
  readonly meant?: string;
  readonly result: Pick<FullResult, "did_you_mean">;
}
