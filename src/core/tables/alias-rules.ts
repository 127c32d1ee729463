/**
 * How a provider writes sub-addresses and which spellings it takes for one mailbox, where that differs from
 * the common rule: "+" before a detail (RFC 5233 section 1), case ignored, nothing else.
 */
export interface AliasRule {
  /** Exact domains. */
  readonly domains: readonly string[];
  /** The label in front of any public suffix: "yahoo" for yahoo.com, yahoo.co.uk ... */
  readonly families: readonly string[];
  /** Customers' own domains, by `providerOfHost` of their mail host. */
  readonly providers: readonly string[];
  /** What separates user and detail. */
  readonly separator: "+" | "-";
  /** "anything@user.domain" is "user+anything@domain". */
  readonly userAsSubdomain?: true;
  /** In the canonical form: dots go, or become hyphens. */
  readonly dots?: "ignored" | "hyphens";
  /** The canonical form's domain, where several reach one mailbox. */
  readonly canonicalDomain?: string;
}

export const PLAIN_RULE: AliasRule = { domains: [], families: [], providers: [], separator: "+" };

export const ALIAS_RULES: readonly AliasRule[] = [
  {
    // Google's help: dots do not matter at gmail.com; at work and school domains they do.
    domains: ["gmail.com", "googlemail.com"],
    families: [],
    providers: [],
    separator: "+",
    dots: "ignored",
    canonicalDomain: "gmail.com",
  },
  {
    // Yahoo's disposable addresses are nickname-keyword; a user name has no hyphen.
    domains: ["ymail.com", "rocketmail.com", "myyahoo.com"],
    families: ["yahoo"],
    providers: ["Yahoo Mail"],
    separator: "-",
  },
  {
    // Fastmail's help on sub-domain addressing.
    domains: ["fastmail.com", "fastmail.fm"],
    families: [],
    providers: ["Fastmail"],
    separator: "+",
    userAsSubdomain: true,
  },
  {
    // Yandex: one login under every national ending, dots and hyphens taken for each other.
    domains: ["ya.ru", ...["ru", "com", "by", "kz", "ua"].map((ending) => `yandex.${ending}`)],
    families: [],
    providers: [],
    separator: "+",
    dots: "hyphens",
    canonicalDomain: "yandex.ru",
  },
];
