/** Evidence names and weights. `docs/signals.md` is held against this table by a test. */

/** How strongly a signal speaks for "disposable": 0 not at all, 1 certainly. */
interface SignalRow {
  readonly weight: number;
  /** What the evidence is about: only `domain` signals are dropped for known-good domains. */
  readonly about: "domain" | "address" | "dns" | "note";
  readonly means: string;
}

/** Most important first among equal weights. */
export const SIGNALS = {
  blacklist_exact: {
    weight: 1,
    about: "domain",
    means:
      "The exact domain is on a curated disposable list, on two or more other lists, or on the operator's deny list.",
  },
  blacklist_parent: {
    weight: 0.95,
    about: "domain",
    means: "A parent of the domain, down to the registrable domain, is on such a list.",
  },
  blacklist_mx: {
    weight: 0.95,
    about: "domain",
    means:
      "A mail host, or its registrable domain, is listed or belongs to a known group of disposable mail servers.",
  },
  keyword_match: {
    weight: 0.9,
    about: "domain",
    means: "The name contains a word that only disposable providers use.",
  },
  disposable_account: {
    weight: 0.85,
    about: "address",
    means:
      "The local part follows the pattern of an address generator on a real provider; weight 1 for a known account.",
  },
  lookalike_provider: {
    weight: 0.85,
    about: "domain",
    means: "The name contains a large provider's brand and is not that provider's.",
  },
  blacklist_single: {
    weight: 0.8,
    about: "domain",
    means:
      "The domain is on exactly one uncurated list; weight 0.40 when its mail goes to a large mailbox provider.",
  },
  free_registry_suffix: {
    weight: 0.8,
    about: "domain",
    means: "The name hangs under a free sub-domain registry that is abused.",
  },
  mx_shared_disposable: {
    weight: 0.45,
    about: "domain",
    means: "The mail host also serves several listed domains, but not only those.",
  },
  keyword_weak: {
    weight: 0.35,
    about: "domain",
    means: "The name contains a word that disposable providers and others use.",
  },
  fresh_domain: {
    weight: 0.3,
    about: "domain",
    means: "Domain age was requested and obtained, and the domain is younger than 30 days.",
  },
  dot_scatter: {
    weight: 0.3,
    about: "address",
    means:
      "A Gmail local part scattered with dots, or one mailbox under many spellings in the account's own traffic.",
  },
  no_mx_records: {
    weight: 0.1,
    about: "dns",
    means: "DNS says with authority that the domain has no mail server.",
  },
  dns_indeterminate: {
    weight: 0,
    about: "dns",
    means: "Nobody could say whether the domain has a mail server: try again later.",
  },
  null_mx: {
    weight: 0,
    about: "dns",
    means: "The domain says that it accepts no mail (RFC 7505).",
  },
  implicit_mx: {
    weight: 0,
    about: "dns",
    means: "No MX record, but an address record (RFC 5321 section 5.1).",
  },
  mx_unresolvable: {
    weight: 0,
    about: "dns",
    means: "Mail hosts are named, but none of them exists on the public internet.",
  },
  special_use_domain: {
    weight: 0,
    about: "dns",
    means: "The name is reserved for special use (RFC 6761) and never asked in DNS.",
  },
  operator_allow: {
    weight: 0,
    about: "note",
    means: "The operator of this service allows the domain or the address.",
  },
  privacy_relay: {
    weight: 0,
    about: "note",
    means: "A forwarding service that hides a real mailbox; an alias, not disposable.",
  },
  plus_alias: {
    weight: 0,
    about: "note",
    means: "A sub-address of some other address of the same mailbox.",
  },
  typo_domain: {
    weight: 0,
    about: "note",
    means: "The domain looks like a misspelling of a large provider: advice, never a rejection.",
  },
} as const satisfies Readonly<Record<string, SignalRow>>;

export type Signal = keyof typeof SIGNALS;

/** One piece of evidence. */
export interface Evidence {
  readonly signal: Signal;
  /** 0 to 1; mostly the table's, see `blacklist_single` and `disposable_account`. */
  readonly weight: number;
  /** What was matched, for the explanation: a listed name, a mail host, a word, the provider meant. */
  readonly subject?: string;
  /** The lists behind it, as bits of `Datasets.sources`; 0 or absent for none. */
  readonly sources?: number;
}

/** Evidence with the weight of the table. */
export function evidence(signal: Signal, more: Omit<Evidence, "signal" | "weight"> = {}): Evidence {
  return { signal, weight: SIGNALS[signal].weight, ...more };
}
