import { readEntry, trimEntry } from "../../core/address/address.ts";
import { isoTime } from "../../core/calendar.ts";
import { canonicalAddress } from "../../core/evidence/alias.ts";
import type { FullResult } from "../../core/validate/result.ts";

/**
 * The one word that a service's result is made from, the first of these that is true:
 * - `syntax`: the format is invalid,
 * - `disposable`,
 * - `no_mail`: DNS says that no mail server is there,
 * - `trap`: a known spam trap (Pro),
 * - `role`,
 * - `unknown`: DNS did not say,
 * - `good`: nothing was found, and the operator set GATEPOST_COMPAT_OPTIMISTIC,
 * - `takes`: the domain takes mail; whether the mailbox exists is not known.
 */
export type ShapeVerdict =
  "syntax" | "disposable" | "no_mail" | "trap" | "role" | "unknown" | "good" | "takes";

export interface ShapeFacts {
  readonly verdict: ShapeVerdict;
  readonly result: FullResult;
  /** As sent, without blanks around it. */
  readonly entry: string;
  /** Left of the last "@"; "" for a domain. */
  readonly user: string;
  /** As evaluated; of a malformed entry what is right of the last "@". */
  readonly domain: string;
  /** Whether a mail server is there; null: DNS did not say. */
  readonly mail: boolean | null;
  readonly mx: readonly string[];
  /** The whole address with the provider's domain. */
  readonly meant: string | null;
  readonly meantDomain: string | null;
  /** One text for all spellings of the mailbox. */
  readonly mailbox: string;
  /** "tag" of "jo+tag@...". */
  readonly tag: string | null;
  readonly alias: boolean;
  readonly relay: boolean;
  /** Days since the domain was registered (Pro). */
  readonly ageDays: number | null;
  /** Who keeps the mailboxes, in one lower-case word (Pro). */
  readonly provider: string | null;
  readonly tookMs: number;
  /** When the check ended, ISO 8601. */
  readonly at: string;
}

interface FactTerms {
  readonly isOptimistic: boolean;
  readonly tookMs: number;
  readonly nowMs: number;
}

export function factsOf(text: string, result: FullResult, terms: FactTerms): ShapeFacts {
  const entry = trimEntry(text);
  const at = entry.lastIndexOf("@");
  const user = entry.slice(0, Math.max(0, at));
  const { signals, did_you_mean: meant = null, mx_info: mx = [] } = result;
  return {
    verdict: verdictOf(result, terms.isOptimistic),
    result,
    entry,
    user,
    domain: result.format ? result.domain : entry.slice(at + 1),
    mail: signals.includes("dns_indeterminate") ? null : result.dns,
    mx,
    meant,
    meantDomain: meant?.slice(meant.lastIndexOf("@") + 1) ?? null,
    mailbox: mailboxOf(entry),
    tag: /^[^+]+\+(.*)$/s.exec(user)?.[1] ?? null,
    alias: result.alias ?? false,
    relay: signals.includes("privacy_relay"),
    ageDays: result.domain_age?.age_days ?? null,
    provider: wordOf(result.inbox_provider),
    tookMs: Math.round(terms.tookMs),
    at: isoTime(terms.nowMs),
  };
}

const OWNERS: Readonly<Record<string, string>> = { gmail: "google", outlook: "microsoft" };

/** "google" for Gmail and Google Workspace alike. */
function wordOf(provider: string | undefined): string | null {
  const word = /^[a-z0-9]+/i.exec(provider ?? "")?.[0]?.toLowerCase();
  return word === undefined ? null : (OWNERS[word] ?? word);
}

function mailboxOf(entry: string): string {
  const read = readEntry(entry, "address");
  return read.kind === "address" ? canonicalAddress(read.address) : entry;
}

/** What each word needs to be true, in the order of `ShapeVerdict`. */
const VERDICTS: readonly (readonly [ShapeVerdict, (result: FullResult) => boolean])[] = [
  ["syntax", ({ format }) => !format],
  ["disposable", ({ disposable }) => disposable],
  ["no_mail", ({ dns, signals }) => !dns && !signals.includes("dns_indeterminate")],
  ["trap", ({ spam_trap: trap }) => trap?.is_trap === true],
  ["role", ({ role }) => role],
  ["unknown", ({ dns }) => !dns],
];

function verdictOf(result: FullResult, isOptimistic: boolean): ShapeVerdict {
  const found = VERDICTS.find(([, holds]) => holds(result))?.[0];
  if (found !== undefined) return found;
  const isClean = result.confidence === 0 && result.did_you_mean === undefined;
  return isOptimistic && isClean ? "good" : "takes";
}
