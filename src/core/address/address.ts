import {
  ADDRESS_MAX_OCTETS,
  BEYOND_ASCII,
  DOMAIN_MAX_OCTETS,
  type Domain,
  type EntryFault,
  ENTRY_MAX_UNITS,
  LOCAL_PART_MAX_OCTETS,
  type Parsed,
  parseDomain,
  withoutLastDot,
} from "../name/domain.ts";
import { hasInvisible } from "../name/ip-address.ts";

/** Drops Unicode `White_Space`, U+FEFF and U+200B at both ends. Linear: a regular expression would try every inner run. */
export function trimEntry(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

const SPACE = /[\s\x85\u200b]/;

const isSpace = (code: number): boolean =>
  (code <= 0x20 || code >= 0x85) && SPACE.test(String.fromCharCode(code));

/** `either` is for lists: what holds an "@" is an address, anything else a domain. */
export type EntryMode = "address" | "domain" | "either";

export type Entry =
  | { readonly kind: "address"; readonly address: Address; readonly domain: Domain }
  | { readonly kind: "domain"; readonly domain: Domain }
  | {
      readonly kind: "malformed";
      readonly fault: EntryFault;
      readonly shownDomain: string;
      readonly as: "address" | "domain";
    };

export function readEntry(text: string, mode: EntryMode): Entry {
  const trimmed = trimEntry(text);
  const as = mode === "either" ? (trimmed.includes("@") ? "address" : "domain") : mode;
  return as === "address" ? readAddress(trimmed) : readDomain(trimmed);
}

function readAddress(text: string): Entry {
  const parsed = parseAddress(text);
  if (!parsed.ok) return malformed(text, parsed.fault, "address");
  return { kind: "address", address: parsed.value, domain: parsed.value.domain };
}

function readDomain(text: string): Entry {
  if (text.includes("@")) return malformed(text, "has_at", "domain");
  if (text.length > ENTRY_MAX_UNITS) return malformed(text, "length", "domain");
  const parsed = parseDomain(withoutLastDot(text));
  if (!parsed.ok) return malformed(text, parsed.fault, "domain");
  return { kind: "domain", domain: parsed.value };
}

function malformed(text: string, fault: EntryFault, as: "address" | "domain"): Entry {
  const tail = text.slice(text.lastIndexOf("@") + 1);
  return { kind: "malformed", fault, shownDomain: shown(tail), as };
}

function shown(text: string): string {
  const kept = text.slice(0, SHOWN_FROM_UNITS).replace(/[^A-Za-z0-9.-]+/g, "");
  return kept === "" ? "invalid" : kept.toLowerCase().slice(0, DOMAIN_MAX_OCTETS);
}

const SHOWN_FROM_UNITS = 65_536;

export function entryKey(entry: Entry, text: string): string {
  if (entry.kind === "address") return addressKey(entry.address);
  return entry.kind === "domain" ? entry.domain.name : text;
}

export interface Address {
  readonly kind: "address";
  /** This is as it was written, quotes included: only the domain's owner may say what case means in it. */
  readonly localPart: string;
  readonly quoted: boolean;
  readonly domain: Domain;
}

/** atext and "." (RFC 5321 section 4.1.2), and any non-ASCII (RFC 6531 section 3.3). */
const DOT_STRING = /^[\w!#$%&'*+/=?^`{|}~.\-\u0080-\u{10ffff}]*$/u;

/** qtextSMTP and quoted-pairSMTP; a quoted pair stays ASCII, as RFC 6531 widens only the text. */
const QUOTED_STRING = /^"(?:[ !#-[\]-~\u0080-\u{10ffff}]|\\[ -~])*"$/u;

/** Control characters, private use, blanks, and U+FFFD, which replaces what a decoder could not read. */
const UNSAFE = /[\p{Cc}\p{Co}\p{Z}\ufffd]/u;

const LEADING_MARK = /(?:^|[."])\p{M}/u;

/** Half a character: no UTF-8 can carry it. */
const LONE_SURROGATE = /\p{Cs}/u;

export function utf8Octets(text: string): number {
  let octets = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four octets, so each half adds one; others up to U+FFFF add two.
    octets += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return octets;
}

function dotStringFault(local: string): EntryFault | undefined {
  if (!DOT_STRING.test(local)) return "local_char";
  if (local.startsWith(".")) return "dot_start";
  if (local.endsWith(".")) return "dot_end";
  return local.includes("..") ? "dot_dot" : undefined;
}

function localFault(local: string): EntryFault | undefined {
  const isQuoted = local.startsWith('"');
  if (isQuoted && !QUOTED_STRING.test(local)) return "quoted";
  const fault = isQuoted ? undefined : dotStringFault(local);
  if (fault !== undefined) return fault;
  if (utf8Octets(local) > LOCAL_PART_MAX_OCTETS) return "local_length";
  if (!BEYOND_ASCII.test(local)) return undefined;
  if (isUnsafe(local)) return "local_unsafe";
  // It is known by its normal form (RFC 6532 section 3.1), which may hold a semicolon or be longer.
  const plain = isQuoted
    ? local.replace(/\\(["\\])|\\/g, (pair, escaped) => (escaped === undefined ? "" : pair))
    : local;
  const normal = plain.normalize("NFC");
  return normal === local ? undefined : localFault(normal);
}

const isUnsafe = (local: string): boolean =>
  UNSAFE.test(local.replaceAll(" ", "")) || hasInvisible(local) || LEADING_MARK.test(local);

/** Split at the last "@": no comments, display name or literal. Never throws; linear, and unread beyond `ENTRY_MAX_UNITS`. */
export function parseAddress(text: string): Parsed<Address> {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(at, 0));
  const right = text.slice(at + 1);
  const fault = wholeFault(text, at) ?? localFault(local);
  if (fault !== undefined) return { ok: false, fault };
  if (right.startsWith("[")) return { ok: false, fault: "literal" };
  const domain = parseDomain(right);
  if (!domain.ok) return domain;
  if (utf8Octets(local) + 1 + domain.value.name.length > ADDRESS_MAX_OCTETS) {
    return { ok: false, fault: "length" };
  }
  const quoted = local.startsWith('"');
  return { ok: true, value: { kind: "address", localPart: local, quoted, domain: domain.value } };
}

function wholeFault(text: string, at: number): EntryFault | undefined {
  if (text === "") return "empty";
  if (text.length > ENTRY_MAX_UNITS) return "length";
  if (at < 0) return "no_at";
  if (at === 0) return "no_local";
  if (LONE_SURROGATE.test(text)) return "surrogate";
  return at === text.length - 1 ? "no_domain" : undefined;
}

/** The parts around the first "+" that has something before it (RFC 5233); without one, all is `user`. */
export function subAddress(localPart: string): { readonly user: string; readonly detail: string } {
  const plus = localPart.indexOf("+");
  if (plus <= 0) return { user: localPart, detail: "" };
  return { user: localPart.slice(0, plus), detail: localPart.slice(plus + 1) };
}

/**
 * The local part as the name of a mailbox, in lower case: quotes (RFC 5321 section 4.1.2) and the normal form of Unicode
 * (RFC 6532 section 3.1) do not count. `withQuotes` makes a local part of it again.
 */
export function mailboxUser({ localPart, quoted }: Address): string {
  const text = quoted ? localPart.slice(1, -1).replace(/\\([ -~])/g, "$1") : localPart;
  const lower = text.toLowerCase();
  return BEYOND_ASCII.test(lower) ? lower.normalize("NFC") : lower;
}

export function withQuotes(user: string): string {
  if (user !== "" && dotStringFault(user) === undefined) return user;
  return `"${user.replace(/["\\]/g, "\\$&")}"`;
}

export function addressKey(address: Address): string {
  return `${withQuotes(mailboxUser(address))}@${address.domain.name}`;
}
