interface SignalRow {
  readonly weight: number;
  /** What the evidence is about: only `domain` signals are dropped for known-good domains. */
  readonly about: "domain" | "address" | "dns" | "note";
  readonly means: string;
  readonly short: string;
  /** Says what was matched, without a full stop; null for a signal that has no subject. */
  readonly found: ((subject: string) => string) | null;
}

/** Most important first among equal weights. */
export const SIGNALS = {
  blacklist_exact: {
    weight: 1,
    about: "domain",
    means: "The exact domain is on a curated disposable list or on the operator's deny list.",
    short: "On the lists of disposable domains.",
    found: (name) => `${name} is on the lists of disposable domains`,
  },
  blacklist_parent: {
    weight: 0.95,
    about: "domain",
    means:
      "A parent of the domain, down to the registrable domain, is on such a list, or three or more names below the same registrable domain are.",
    short: "Under a domain of a disposable service.",
    found: (name) =>
      `${name}, above the domain, is on the lists of disposable domains or has several names on them below it`,
  },
  blacklist_mx: {
    weight: 0.95,
    about: "domain",
    means:
      "A mail host, or its registrable domain, is listed or belongs to a known group of disposable mail servers.",
    short: "Its mail server is known for disposable mail.",
    found: (host) => `Its mail server, ${host}, is known for disposable mail`,
  },
  keyword_match: {
    weight: 0.9,
    about: "domain",
    means: "The name contains a word that only disposable providers use.",
    short: "Its name holds a word that only disposable providers use.",
    found: (word) => `Its name holds “${word}”, a word that only disposable providers use`,
  },
  disposable_account: {
    weight: 0.85,
    about: "address",
    means:
      "The local part follows the pattern of an address generator on a real provider; weight 1 for a known account.",
    short: "The part before the “@” follows the pattern of an address generator.",
    found: (pattern) => `The part before the “@” follows a generator: ${pattern}`,
  },
  lookalike_provider: {
    weight: 0.85,
    about: "domain",
    means: "The name contains a large provider's brand and is not that provider's.",
    short: "It looks like a large provider and is not.",
    found: (brand) => `It looks like ${brand} and is not`,
  },
  blacklist_single: {
    weight: 0.8,
    about: "domain",
    means:
      "Only uncurated lists hold the domain; weight 0.40 when its mail goes to a large mailbox provider, while its mail hosts are unknown, or when only weak lists or one doubtful list hold it.",
    short: "On a list of disposable domains collected by machine.",
    found: (name) => `${name} is on a list of disposable domains that is collected by machine`,
  },
  free_registry_suffix: {
    weight: 0.8,
    about: "domain",
    means:
      "The name is below a free sub-domain registry that is abused; weight 0.25 when the registry has many honest customers.",
    short: "Under a registry that gives names away for free.",
    found: (suffix) => `It is a name under ${suffix}, a registry that gives names away for free`,
  },
  keyword_weak: {
    weight: 0.35,
    about: "domain",
    means: "The name contains a word that disposable providers and others use.",
    short: "Its name holds a word that disposable providers like.",
    found: (word) => `Its name holds “${word}”, a word that disposable providers like`,
  },
  fresh_domain: {
    weight: 0.3,
    about: "domain",
    means: "Domain age was requested and obtained, and the domain is younger than 30 days.",
    short: "Registered less than 30 days ago.",
    found: null,
  },
  dot_scatter: {
    weight: 0.3,
    about: "address",
    means: "A Gmail local part scattered with dots.",
    short: "One mailbox under many spellings.",
    found: null,
  },
  mx_shared_disposable: {
    weight: 0.2,
    about: "domain",
    means: "The mail host also serves several listed domains, but not only those.",
    short: "Its mail server also serves disposable domains.",
    found: (host) =>
      `Its mail server, ${host}, also serves several disposable domains, but not only those`,
  },
  no_mx_records: {
    weight: 0.1,
    about: "dns",
    means: "DNS answers with authority that the domain has no mail server.",
    short: "The domain names no mail server.",
    found: null,
  },
  dns_indeterminate: {
    weight: 0,
    about: "dns",
    means:
      "DNS did not answer, so it is unknown whether the domain has a mail server: try again later.",
    short: "Its name servers gave no usable answer. Worth another try.",
    found: null,
  },
  null_mx: {
    weight: 0,
    about: "dns",
    means: "The domain says that it accepts no mail (RFC 7505).",
    short: "The domain accepts no mail.",
    found: null,
  },
  implicit_mx: {
    weight: 0,
    about: "dns",
    means: "No MX record, but an address record (RFC 5321 section 5.1).",
    short: "It has a web address but names no mail server.",
    found: null,
  },
  mx_unresolvable: {
    weight: 0,
    about: "dns",
    means: "Mail hosts are named, but none of them exists on the public internet.",
    short: "The mail servers it names do not exist.",
    found: null,
  },
  special_use_domain: {
    weight: 0,
    about: "dns",
    means: "The name is reserved for special use (RFC 6761) and never asked in DNS.",
    short: "The name never reaches the internet.",
    found: null,
  },
  operator_allow: {
    weight: 0,
    about: "note",
    means: "The operator of this service allows the domain or the address.",
    short: "The operator of this service allows it.",
    found: null,
  },
  privacy_relay: {
    weight: 0,
    about: "note",
    means: "A forwarding service that hides a real mailbox; an alias, not disposable.",
    short: "A relay: a real person who hides the address.",
    found: (relay) => `Forwarded by ${relay}`,
  },
  plus_alias: {
    weight: 0,
    about: "note",
    means: "A sub-address of another address of the same mailbox.",
    short: "A sub-address of another address.",
    found: null,
  },
  typo_domain: {
    weight: 0,
    about: "note",
    means: "The domain looks like a misspelling of a large provider: advice, never a rejection.",
    short: "The domain looks like a misspelling.",
    found: (meant) => `It may be a misspelling of ${meant}`,
  },
  typo_local_part: {
    weight: 0,
    about: "note",
    means:
      "The part before the “@” has a character that this large provider gives to no mailbox: advice, never a rejection.",
    short: "The part before the “@” looks like a misspelling.",
    found: (provider) => `No mailbox of ${provider} has such a name`,
  },
} as const satisfies Readonly<Record<string, SignalRow>>;

export type Signal = keyof typeof SIGNALS;

/** What a signal says, with what was matched where that is known: a sentence. */
export function sentenceOf(signal: Signal, subject?: string): string {
  const { found, short } = SIGNALS[signal];
  return found === null || subject === undefined ? short : `${found(subject)}.`;
}

/** The same without a subject and without the full stop. */
export const signalTitle = (signal: Signal): string => SIGNALS[signal].short.replace(/\.$/, "");

export interface Evidence {
  readonly signal: Signal;
  /** 0 to 1; mostly the table's, see `blacklist_single` and `disposable_account`. */
  readonly weight: number;
  readonly subject?: string;
  /** The lists behind it, as bits of `Datasets.sources`; 0 or absent for none. */
  readonly sources?: number;
}

export function evidence(signal: Signal, more: Omit<Evidence, "signal" | "weight"> = {}): Evidence {
  return { signal, weight: SIGNALS[signal].weight, ...more };
}
