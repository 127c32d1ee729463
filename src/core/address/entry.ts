import { type Address, type AddressFault, addressKey, parseAddress } from "./address.ts";
import { type Domain, type DomainFault, parseDomain, withoutLastDot } from "../name/domain.ts";
import { DOMAIN_MAX_OCTETS, ENTRY_MAX_UNITS } from "../limits.ts";

/**
 * Drops white space at both ends: Unicode `White_Space`, U+FEFF and U+200B. Every door of the product uses it.
 * Linear, because a regular expression would try every inner run.
 */
export function trimEntry(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

const isSpace = (code: number): boolean =>
  code <= 0x20 ? code === 0x20 || (code >= 9 && code <= 13) : code >= 0x85 && WIDE_SPACE.has(code);

const WIDE_SPACE: ReadonlySet<number> = new Set([
  0x85,
  0xa0,
  0x1680,
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x3000,
  0xfeff,
  0x200b,
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
]);

/** How to read an entry. `either` is bulk: what holds an "@" is an address, anything else a domain. */
export type EntryMode = "address" | "domain" | "either";

/** `has_at` is an address where a bare domain was asked for; `length` is an entry too long to parse. */
export type EntryFault = AddressFault | DomainFault | "has_at" | "length";

export type Entry =
  | { readonly kind: "address"; readonly address: Address; readonly domain: Domain }
  | { readonly kind: "domain"; readonly domain: Domain }
  | {
      readonly kind: "malformed";
      readonly fault: EntryFault;
      /** What a result names as its domain: printable, never blank. */
      readonly shownDomain: string;
      /** Which of the two it was taken for. */
      readonly as: "address" | "domain";
    };

/** Reads one entry. Never throws; linear in its input. */
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

/** The part of a malformed input that may be shown as its domain; "invalid" if there is none. */
function shown(text: string): string {
  const kept = text.slice(0, SHOWN_FROM_UNITS).replace(/[^A-Za-z0-9.-]+/g, "");
  return kept === "" ? "invalid" : kept.toLowerCase().slice(0, DOMAIN_MAX_OCTETS);
}

/** How much of a malformed input is searched for something to show. */
const SHOWN_FROM_UNITS = 65_536;

/** What makes two spellings one entry: the parsed form, or the raw text of a malformed one. */
export function entryKey(entry: Entry, text: string): string {
  if (entry.kind === "address") return addressKey(entry.address);
  return entry.kind === "domain" ? entry.domain.name : text;
}
