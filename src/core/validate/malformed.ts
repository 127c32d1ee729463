import { type EntryMode, readEntry, trimEntry } from "../address/address.ts";
import { isIssued } from "../evidence/alias.ts";
import { mainDomain, malformedTarget, providerAtEnd } from "../evidence/names/typo.ts";
import {
  ADDRESS_MAX_OCTETS,
  type EntryFault,
  FAULT_WORDS,
  hasKnownEnding,
  parseDomain,
} from "../name/domain.ts";
import { withoutInvisible } from "../name/ip-address.ts";
import { LARGE_PROVIDERS } from "../tables/data.ts";
import type { FullResult } from "./result.ts";

export const SLIP_WORDS = {
  invisible: "It contains an invisible character.",
  wide_at: 'Its at sign is a full-width one; "@" is needed.',
  wide_letter: "It contains full-width letters.",
  curly_quote: "It stands in quotation marks.",
  in_brackets: "It stands in brackets.",
  mailto: 'It begins with "mailto:".',
  url: "It is a web address, not a domain.",
  mark_at_end: "It ends with a punctuation mark.",
  domain_dot_end: "The domain ends with a dot.",
  percent_at: 'It has "%40" where the "@" belongs.',
  two_ats: 'It has more than one "@".',
  domain_dots: "The domain has two dots in a row.",
  comma_for_dot: "The domain has a comma where a dot belongs.",
  blank: 'It has a space beside the "@".',
  lost_at: 'The "@" is missing.',
} as const;
type Slip = keyof typeof SLIP_WORDS;

export type FormatCode = EntryFault | Slip;

/** Why a text is malformed: a stable code for programs, a sentence, and the one certain repair where there is one. */
export interface FormatProblem {
  readonly code: FormatCode;
  readonly message: string;
  readonly meant?: string;
}

type Repair = (text: string) => string;

/** Repairs what stands behind the last "@", or the whole text without one. */
const inDomain =
  (repair: Repair): Repair =>
  (text) => {
    const at = text.lastIndexOf("@");
    return text.slice(0, at + 1) + repair(text.slice(at + 1));
  };

const QUOTES = "\"'`\u00ab\u00bb\u2018-\u201f\u2039\u203a\u300c-\u300f";
const IN_QUOTES = new RegExp(`^[${QUOTES}]+|[${QUOTES}]+$`, "g");

/** Each repairs what the ones before it left. A repair that finds nothing returns its text. */
const SLIPS: readonly (readonly [Slip, Repair])[] = [
  ["invisible", withoutInvisible],
  ["wide_at", (text) => text.replace(/[\uff20\ufe6b]/g, "@")],
  [
    "wide_letter",
    (text) =>
      text.replace(/[\uff01-\uff5e\u3002\uff61]+/g, (wide) =>
        wide.normalize("NFKC").replaceAll("\u3002", "."),
      ),
  ],
  ["curly_quote", (text) => (text.includes("@") ? text.replace(IN_QUOTES, "") : text)],
  ["in_brackets", (text) => BRACKETS.exec(text)?.slice(1).find(Boolean) ?? text],
  ["mailto", (text) => text.replace(/^mailto:([^?]*).*$/is, "$1")],
  ["url", (text) => text.replace(/^https?:\/\/([^/?#@:]+)(?::\d+)?(?:[/?#].*)?$/is, "$1")],
  ["mark_at_end", (text) => text.replace(/[,;:!?]+$/, "")],
  ["domain_dot_end", (text) => (text.includes("@") ? text.replace(/\.+$/, "") : text)],
  ["percent_at", (text) => (text.includes("@") ? text : text.replace("%40", "@"))],
  ["two_ats", (text) => text.replace(/@{2,}/g, "@")],
  ["domain_dots", inDomain((domain) => domain.replace(/\.{2,}/g, "."))],
  ["comma_for_dot", inDomain(withoutCommas)],
  ["blank", (text) => text.replace(/(?<!\s)\s*@\s*/g, "@")],
  ["lost_at", (text) => withLostAt(text) ?? text],
];

/** Leaves the text where what stands before the comma is a whole domain already: "good.org,an", but not "good.com,br". */
function withoutCommas(domain: string): string {
  const [head = "", ...tail] = domain.toLowerCase().split(",");
  const dotted = [head, ...tail].join(".");
  if (tail.length === 0) return domain;
  if (LARGE_PROVIDERS.has(dotted)) return dotted;
  if (LARGE_PROVIDERS.has(head)) return head;
  if (!head.includes(".") || !hasKnownEnding(head)) return dotted;
  const parsed = parseDomain(dotted);
  const isWithinSuffix = parsed.ok && parsed.value.publicSuffix.length > tail.join(".").length;
  return isWithinSuffix && hasKnownEnding(dotted) ? dotted : domain;
}

/** "Jo <jo@x>", "<jo@x>", "(jo@x)", "[jo@x]", "{jo@x}". */
const BRACKETS = /^(?:[^<>@]*<([^<>]*)>|\(([^()]*)\)|\[([^[\]]*)\]|\{([^{}]*)\})$/;

const REPAIRED_MAX_UNITS = 2 * ADDRESS_MAX_OCTETS;

export function formatProblem(text: string, mode: EntryMode, fault: EntryFault): FormatProblem {
  const entry = trimEntry(text);
  if (entry.length > REPAIRED_MAX_UNITS) return { code: fault, message: faultSentence(fault) };
  let found: Slip | undefined;
  let repaired = entry;
  for (const [slip, repair] of SLIPS) {
    const next = trimEntry(repair(repaired));
    if (next !== repaired) found ??= slip;
    repaired = next;
  }
  const meant = meantBySlips(repaired, entry, mode);
  const hasTwo = fault === "local_char" && entry.indexOf("@") !== entry.lastIndexOf("@");
  const certain = meant === undefined ? undefined : found;
  const code = certain ?? (hasTwo ? "two_ats" : fault);
  const message = isSlip(code) ? SLIP_WORDS[code] : faultSentence(code);
  return { code, message, ...(meant !== undefined && { meant }) };
}

function meantBySlips(repaired: string, entry: string, mode: EntryMode): string | undefined {
  const isWhole = readEntry(repaired, mode).kind !== "malformed";
  if (isWhole && repaired !== entry && hasKnownEnding(domainOf(repaired))) return repaired;
  return (
    nearProvider(repaired, entry, mode) ?? (isWhole && repaired !== entry ? repaired : undefined)
  );
}

const isSlip = (code: FormatCode): code is Slip => Object.hasOwn(SLIP_WORDS, code);

function faultSentence(fault: EntryFault): string {
  const words = FAULT_WORDS[fault];
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

const domainOf = (entry: string): string => entry.slice(entry.lastIndexOf("@") + 1);

function nearProvider(repaired: string, entry: string, mode: EntryMode): string | undefined {
  const domain = domainOf(repaired);
  const provider =
    malformedTarget(domain) ?? (domain === repaired ? undefined : mainDomain(domain));
  if (provider === undefined) return undefined;
  const meant = repaired.slice(0, repaired.lastIndexOf("@") + 1) + provider;
  return meant === entry || !canBe(meant, mode) ? undefined : meant;
}

/** Whether it can be an entry; a provider's address has only characters that the provider gives out. */
function canBe(text: string, mode: EntryMode): boolean {
  const entry = readEntry(text, mode);
  return entry.kind === "domain" || (entry.kind === "address" && isIssued(entry.address));
}

/** The at sign as people write it out: "jo(at)web.de", "jo [at] web.de", "jo at web.de". */
const WRITTEN_AT = /\s*[([{<]\s*at\s*[)\]}>]\s*|\s+at\s+/i;

/** It is written out, or stood before a large provider's name, as in "zo1827gmail.com" and "ann.lee.web.de". */
export function withLostAt(text: string): string | undefined {
  const entry = trimEntry(text);
  if (entry.length > ADDRESS_MAX_OCTETS || entry.includes("@")) return undefined;
  const written = entry.replace(WRITTEN_AT, "@");
  const meant = written === entry ? beforeProvider(entry) : written;
  return meant !== undefined && canBe(meant, "address") ? meant : undefined;
}

function beforeProvider(entry: string): string | undefined {
  const provider = providerAtEnd(entry.toLowerCase());
  if (provider === undefined) return undefined;
  const user = entry.slice(0, -provider.length).replace(/\.$/, "");
  return /[\p{L}\p{N}]$/u.test(user) ? `${user}@${provider}` : undefined;
}

/** The entry that was probably meant: the result says so of a misspelt provider, not of a malformed entry. */
export const meantBy = ({
  problem,
  result,
}: {
  readonly problem?: FormatProblem;
  readonly result: Pick<FullResult, "did_you_mean">;
}): string | undefined => problem?.meant ?? result.did_you_mean;

/** The result with `did_you_mean` behind `signals`, where the API has it. */
export function withMeant<Result extends object>(
  result: Result,
  meant: string | undefined,
): Result & { readonly did_you_mean?: string } {
  if (meant === undefined) return result;
  const members = Object.entries(result).filter(([name]) => name !== "did_you_mean");
  const at = members.findIndex(([name]) => name === "signals") + 1;
  const repaired = Object.fromEntries(members.toSpliced(at, 0, ["did_you_mean", meant]));
  return repaired as Result & { readonly did_you_mean: string };
}
