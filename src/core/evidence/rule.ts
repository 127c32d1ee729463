import { parseAddress } from "../address/address.ts";
import { canonicalAddress } from "./alias.ts";
import { type Parsed, parseDomain, withoutLastDot } from "../name/domain.ts";
import type { EntryFault } from "../address/entry.ts";
import { ENTRY_MAX_UNITS } from "../limits.ts";

/** What an operator's rule says about its subject; a trap is not a verdict. */
export const LIST_WORDS = ["allow", "deny", "account", "recycled", "pristine", "listed"] as const;
export type ListWord = (typeof LIST_WORDS)[number];

/** A subject has one word and may be a trap besides. */
export type ListTopic = "word" | "trap";

export const topicOf = (word: ListWord): ListTopic =>
  word === "allow" || word === "deny" || word === "account" ? "word" : "trap";

/** What an entry is about. `below`: every name below it, itself not included ("*.suffix"). */
export type ListSubject =
  | { readonly kind: "domain" | "mailHost"; readonly name: string; readonly below: boolean }
  | { readonly kind: "address"; readonly canonical: string; readonly domain: string }
  /** An address as it is stored: the keyed hash of its canonical form. */
  | { readonly kind: "hashed"; readonly hash: string; readonly domain: string };

const MAIL_HOST = "mx:";
const BELOW = "*.";
const HASHED = "address:";
const HASHED_FORM = /^address:([0-9a-f]{32})@([a-z0-9.-]{1,253})$/;

/**
 * Reads "a.example", "*.a.example", "mx:mail.a.example", "mx:*.a.example", an address, or the stored form of
 * one ("address:<hash>@a.example"). Blanks around it do not count. "*.zone" may be a single label. Never throws.
 */
export function readListSubject(text: string): Parsed<ListSubject, EntryFault> {
  const trimmed = text.trim();
  if (trimmed.length > ENTRY_MAX_UNITS) return { ok: false, fault: "length" };
  const [, hash = "", domain = ""] = HASHED_FORM.exec(trimmed) ?? [];
  if (hash !== "") return { ok: true, value: { kind: "hashed", hash, domain } };
  if (/^mx:/i.test(trimmed)) return readName(trimmed.slice(MAIL_HOST.length), "mailHost");
  return trimmed.includes("@") ? readAddress(trimmed) : readName(trimmed, "domain");
}

function readAddress(text: string): Parsed<ListSubject, EntryFault> {
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed;
  const canonical = canonicalAddress(parsed.value);
  const domain = canonical.slice(canonical.lastIndexOf("@") + 1);
  return { ok: true, value: { kind: "address", canonical, domain } };
}

function readName(text: string, kind: "domain" | "mailHost"): Parsed<ListSubject, EntryFault> {
  const below = text.startsWith(BELOW);
  // With a label in front a top-level name is read by the rules of all others.
  const parsed = parseDomain(below ? `x.${text.slice(BELOW.length)}` : withoutLastDot(text));
  if (!parsed.ok) return parsed;
  const name = below ? parsed.value.name.slice("x.".length) : parsed.value.name;
  return { ok: true, value: { kind, name, below } };
}

/** How an entry is stored and shown: `readListSubject` reads it back, addresses as their hash alone. */
export function listSubjectText(
  subject: ListSubject,
  hashOf: (canonical: string) => string,
): string {
  if (subject.kind === "hashed") return `${HASHED}${subject.hash}@${subject.domain}`;
  if (subject.kind === "address") {
    return `${HASHED}${hashOf(subject.canonical)}@${subject.domain}`;
  }
  const name = subject.below ? BELOW + subject.name : subject.name;
  return subject.kind === "mailHost" ? MAIL_HOST + name : name;
}

/** Whether a word can be said of a subject: accounts are addresses, traps addresses and domains. */
export function mayBeSaid(word: ListWord, { kind }: ListSubject): boolean {
  if (word === "account") return kind === "address" || kind === "hashed";
  return topicOf(word) === "word" || kind !== "mailHost";
}
