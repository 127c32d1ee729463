import { parseAddress } from "../address/address.ts";
import { canonicalAddress } from "./alias.ts";
import { type Parsed, parseDomain, withoutLastDot } from "../name/domain.ts";
import type { EntryFault } from "../address/entry.ts";
import { ENTRY_MAX_UNITS } from "../limits.ts";

/** What an operator's rule says about its subject; a trap is not a verdict, and only feeds are switched off. */
export const LIST_WORDS = [
  "allow",
  "deny",
  "account",
  "recycled",
  "pristine",
  "listed",
  "off",
] as const;
export type ListWord = (typeof LIST_WORDS)[number];

/** A subject has one word and may be a trap besides. */
export type ListTopic = "word" | "trap";

export const topicOf = (word: ListWord): ListTopic =>
  word === "recycled" || word === "pristine" || word === "listed" ? "trap" : "word";

/** What an entry is about. `below`: every name below it, itself not included ("*.suffix"). */
export type ListSubject =
  | { readonly kind: "domain" | "mailHost"; readonly name: string; readonly below: boolean }
  | { readonly kind: "feed"; readonly id: string }
  | { readonly kind: "address"; readonly canonical: string; readonly domain: string }
  /** An address as it is stored: the keyed hash of its canonical form. */
  | { readonly kind: "hashed"; readonly hash: string; readonly domain: string };

const MAIL_HOST = "mx:";
const BELOW = "*.";
const FEED = "feed:";
const FEED_FORM = /^feed:([a-z0-9-]{1,40})$/;
const HASHED = "address:";
const HASHED_FORM = /^address:([0-9a-f]{32})@([a-z0-9.-]{1,253})$/;

/**
 * Reads "a.example", "*.a.example", "mx:mail.a.example", "mx:*.a.example", "feed:castle", an address, or the stored form
 * of one ("address:<hash>@a.example"). Blanks around it do not count. "*.zone" may be a single label. Never throws.
 */
export function readListSubject(text: string): Parsed<ListSubject, EntryFault> {
  const trimmed = text.trim();
  if (trimmed.length > ENTRY_MAX_UNITS) return { ok: false, fault: "length" };
  const value = storedSubject(trimmed);
  if (value !== undefined) return { ok: true, value };
  if (/^mx:/i.test(trimmed)) return readName(trimmed.slice(MAIL_HOST.length), "mailHost");
  return trimmed.includes("@") ? readAddress(trimmed) : readName(trimmed, "domain");
}

/** Subjects that are written in one way only. */
function storedSubject(text: string): ListSubject | undefined {
  const [, hash = "", domain = ""] = HASHED_FORM.exec(text) ?? [];
  if (hash !== "") return { kind: "hashed", hash, domain };
  const id = FEED_FORM.exec(text)?.[1];
  return id === undefined ? undefined : { kind: "feed", id };
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

/** How the switch of a feed is stored and shown. */
export const feedSubject = (id: string): string => FEED + id;

/** How an entry is stored and shown: `readListSubject` reads it back, addresses as their hash alone. */
export function listSubjectText(
  subject: ListSubject,
  hashOf: (canonical: string) => string,
): string {
  if (subject.kind === "hashed") return `${HASHED}${subject.hash}@${subject.domain}`;
  if (subject.kind === "address") {
    return `${HASHED}${hashOf(subject.canonical)}@${subject.domain}`;
  }
  if (subject.kind === "feed") return feedSubject(subject.id);
  const name = subject.below ? BELOW + subject.name : subject.name;
  return subject.kind === "mailHost" ? MAIL_HOST + name : name;
}

/** Whether a word can be said of a subject: feeds are off, accounts are addresses, traps addresses and domains. */
export function mayBeSaid(word: ListWord, { kind }: ListSubject): boolean {
  if (word === "off" || kind === "feed") return word === "off" && kind === "feed";
  if (word === "account") return kind === "address" || kind === "hashed";
  return topicOf(word) === "word" || kind !== "mailHost";
}
