import type { Rules, OperatorTrap, OperatorWord } from "./datasets.ts";
import { type ListSubject, type ListWord, readListSubject, topicOf } from "./rule.ts";

/** What is needed of an entry to answer for it; `subject` as `listSubjectText` writes it. */
export interface SaidOf {
  readonly subject: string;
  readonly word: ListWord;
}

/** What is said of names: the most specific entry counts, the name itself before the names above it. */
interface NameWords<Word> {
  readonly exact: Map<string, Word>;
  /** "a.example" for "*.a.example". */
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

/** The same for addresses, by domain first: without an entry at a domain nothing need be hashed. */
type AddressWords<Word> = Map<string, Map<string, Word>>;

interface Said {
  readonly domains: NameWords<OperatorWord>;
  readonly mailHosts: NameWords<OperatorWord>;
  readonly addresses: AddressWords<OperatorWord | "account">;
  readonly trapDomains: NameWords<OperatorTrap>;
  readonly trapAddresses: AddressWords<OperatorTrap>;
  readonly feedsOff: Set<string>;
}

/** Lists that answer from memory. `hashOf` is how the addresses among the entries were hashed. */
export function rulesOf(entries: Iterable<SaidOf>, hashOf: (canonical: string) => string): Rules {
  const said: Said = {
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
function add({ subject, word }: SaidOf, said: Said): void {
  const read = readListSubject(subject);
  if (!read.ok || read.value.kind === "address") return;
  if (read.value.kind === "feed") said.feedsOff.add(read.value.id);
  else if (read.value.kind === "hashed") {
    const { domain, hash } = read.value;
    if (isTrap(word)) addAddress(said.trapAddresses, domain, [hash, word]);
    else if (word !== "off") addAddress(said.addresses, domain, [hash, word]);
  } else addName(read.value, word, said);
}

function addName({ kind, name, below }: NameSubject, word: ListWord, said: Said): void {
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
