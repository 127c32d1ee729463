import { parseAddress } from "../address/address.ts";
import { canonicalAddress } from "./alias.ts";
import {
  ENTRY_MAX_UNITS,
  type Parsed,
  parseDomain,
  parseMailHost,
  withoutLastDot,
} from "../name/domain.ts";
import type { OperatorTrap, OperatorWord, Rules } from "./datasets.ts";

export interface SaidOf {
  readonly subject: string;
  readonly word: ListWord;
}

interface NameWords<Word> {
  readonly exact: Map<string, Word>;
  readonly below: Map<string, Word>;
}

const nameWords = <Word>(): NameWords<Word> => ({ exact: new Map(), below: new Map() });

function wordFor<Word>(name: string, { exact, below }: NameWords<Word>): Word | undefined {
  const own = exact.get(name);
  if (own !== undefined || below.size === 0) return own;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const word = below.get(name.slice(dot + 1));
    if (word !== undefined) return word;
  }
  return undefined;
}

type AddressWords<Word> = Map<string, Map<string, Word>>;

interface OperatorWords {
  readonly domains: NameWords<OperatorWord>;
  readonly mailHosts: NameWords<OperatorWord>;
  readonly addresses: AddressWords<OperatorWord | "account">;
  readonly trapDomains: NameWords<OperatorTrap>;
  readonly trapAddresses: AddressWords<OperatorTrap>;
  readonly feedsOff: Set<string>;
}

export function rulesOf(entries: Iterable<SaidOf>, hashOf: (canonical: string) => string): Rules {
  const said: OperatorWords = {
    domains: nameWords(),
    mailHosts: nameWords(),
    addresses: new Map(),
    trapDomains: nameWords(),
    trapAddresses: new Map(),
    feedsOff: new Set(),
  };
  for (const entry of entries) add(entry, said);
  const ofAddress = <Word>(canonical: string, words: AddressWords<Word>): Word | undefined =>
    words.get(canonical.slice(canonical.lastIndexOf("@") + 1))?.get(hashOf(canonical));
  return {
    domain: (name) => wordFor(name, said.domains),
    named: (name) => said.domains.exact.get(name),
    mailHost: (host) => wordFor(host, said.mailHosts),
    address: (canonical) => ofAddress(canonical, said.addresses),
    trap: (subject) =>
      subject.includes("@")
        ? ofAddress(subject, said.trapAddresses)
        : wordFor(subject, said.trapDomains),
    names: () => [...said.domains.exact.keys(), ...said.domains.below.keys()],
    isFeedOff: (id) => said.feedsOff.has(id),
  };
}

type NameSubject = Extract<ListSubject, { readonly below: boolean }>;

/** A subject that cannot be read, as of a later version of this program, is left out. */
function add({ subject, word }: SaidOf, said: OperatorWords): void {
  const read = readListSubject(subject);
  if (!read.ok || read.value.kind === "address") return;
  if (read.value.kind === "feed") said.feedsOff.add(read.value.id);
  else if (read.value.kind === "hashed") {
    const { domain, hash } = read.value;
    if (isTrap(word)) addAddress(said.trapAddresses, domain, [hash, word]);
    else if (word !== "off") addAddress(said.addresses, domain, [hash, word]);
  } else addName(read.value, word, said);
}

function addName({ kind, name, below }: NameSubject, word: ListWord, said: OperatorWords): void {
  const side = below ? "below" : "exact";
  if (isTrap(word)) said.trapDomains[side].set(name, word);
  else if (word === "allow" || word === "deny") {
    (kind === "mailHost" ? said.mailHosts : said.domains)[side].set(name, word);
  }
}

const isTrap = (word: ListWord): word is OperatorTrap => topicOf(word) === "trap";

function addAddress<Word>(
  words: AddressWords<Word>,
  domain: string,
  [hash, word]: readonly [string, Word],
): void {
  const known = words.get(domain) ?? new Map<string, Word>();
  words.set(domain, known.set(hash, word));
}

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

/** "a.example", "*.a.example", "mx:a.example", "feed:castle", an address or its stored form. Never throws. */
export function readListSubject(text: string): Parsed<ListSubject> {
  const trimmed = text.trim();
  if (trimmed.length > ENTRY_MAX_UNITS) return { ok: false, fault: "length" };
  const value = storedSubject(trimmed);
  if (value !== undefined) return { ok: true, value };
  if (/^mx:/i.test(trimmed)) return readName(trimmed.slice(MAIL_HOST.length), "mailHost");
  return trimmed.includes("@") ? readAddress(trimmed) : readName(trimmed, "domain");
}

function storedSubject(text: string): ListSubject | undefined {
  const [, hash = "", domain = ""] = HASHED_FORM.exec(text) ?? [];
  if (hash !== "") return { kind: "hashed", hash, domain };
  const id = FEED_FORM.exec(text)?.[1];
  return id === undefined ? undefined : { kind: "feed", id };
}

function readAddress(text: string): Parsed<ListSubject> {
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed;
  const canonical = canonicalAddress(parsed.value);
  const domain = canonical.slice(canonical.lastIndexOf("@") + 1);
  return { ok: true, value: { kind: "address", canonical, domain } };
}

function readName(text: string, kind: "domain" | "mailHost"): Parsed<ListSubject> {
  const below = text.startsWith(BELOW);
  // With a label in front a top-level name is read by the rules of all others.
  const whole = below ? `x.${text.slice(BELOW.length)}` : withoutLastDot(text);
  const parsed = kind === "domain" ? domainName(whole) : parseMailHost(whole);
  if (!parsed.ok) return parsed;
  const name = below ? parsed.value.slice("x.".length) : parsed.value;
  return { ok: true, value: { kind, name, below } };
}

function domainName(text: string): Parsed<string> {
  const parsed = parseDomain(text);
  return parsed.ok ? { ok: true, value: parsed.value.name } : parsed;
}

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
