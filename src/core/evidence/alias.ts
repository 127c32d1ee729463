import { type Address, mailboxUser, subAddress, withQuotes } from "../address/address.ts";
import { BEYOND_ASCII, type Domain } from "../name/domain.ts";
import { type MailHosts, providerOfMail, relayOfDomain, relayOfMail } from "../mail/mail-hosts.ts";
import { ISSUED_BY_DOMAIN, TAG_SEPARATORS } from "../tables/data.ts";

/** Where a provider differs from the common rule: "+" before a detail (RFC 5233 section 1), case ignored, nothing else. */
interface AliasRule {
  readonly since: number;
  readonly domains: readonly string[];
  /** The label in front of any public suffix: "yahoo" for yahoo.com, yahoo.co.uk ... */
  readonly families?: readonly string[];
  /** Customers' own domains, by `providerOfHost` of their mail host. */
  readonly providers?: readonly string[];
  readonly separator: string;
  /** "anything@user.domain" is "user+anything@domain". */
  readonly userAsSubdomain?: true;
  readonly ignored?: RegExp;
  readonly hyphens?: RegExp;
  readonly canonicalDomain?: string;
}

const PLAIN_RULE: AliasRule = { since: 1, domains: [], separator: "+" };

/**
 * The number of the rules that make canonical addresses: 1 until 0.2.0, 2 from 0.3.0 (quotes, normal forms,
 * domains of Proton and iCloud), 3 from 0.4.0 (capitals beyond ASCII, `tables/tag-separators.txt`). Raise it with every change that
 * gives an address another canonical form, and keep the earlier rules: ids that accounts have stored are made by them.
 */
export const MAILBOX_RULES = 3;

const ALIAS_RULES: readonly AliasRule[] = [
  {
    // Google's help: dots do not matter at gmail.com; at work and school domains they do.
    since: 1,
    domains: ["gmail.com", "googlemail.com"],
    separator: "+",
    ignored: /\./g,
    canonicalDomain: "gmail.com",
  },
  {
    // Proton's own clients compare addresses so (canonicalizeInternalEmail in ProtonMail/WebClients), and its help on addresses
    // (proton.me/support/addresses-and-aliases) gives one user the same name at each of its domains.
    since: 2,
    domains: ["proton.me", "protonmail.com", "protonmail.ch", "pm.me"],
    separator: "+",
    ignored: /[._-](?!\p{M})/gu, // a mark begins no local part, and joins no other letter
    canonicalDomain: "proton.me",
  },
  {
    // Apple's help (support.apple.com/118230): who has a name at me.com or mac.com has it at icloud.com too.
    since: 2,
    domains: ["icloud.com", "me.com", "mac.com"],
    separator: "+",
    canonicalDomain: "icloud.com",
  },
  {
    // Fastmail's help on sub-domain addressing.
    since: 1,
    domains: ["fastmail.com", "fastmail.fm"],
    providers: ["Fastmail"],
    separator: "+",
    userAsSubdomain: true,
  },
  {
    // Yandex: one login under every national ending, dots and hyphens taken for each other.
    since: 1,
    domains: ["ya.ru", ...["ru", "com", "by", "kz", "ua"].map((ending) => `yandex.${ending}`)],
    separator: "+",
    hyphens: /\./g,
    canonicalDomain: "yandex.ru",
  },
  ...TAG_SEPARATORS.map(({ domains, provider, ...row }) => ({
    ...row,
    domains: domains.filter((name) => !name.endsWith(".*")),
    families: domains.flatMap((name) => (name.endsWith(".*") ? name.slice(0, -2) : [])),
    providers: provider === "" ? [] : [provider],
  })),
];

const indexed = (by: "domains" | "families" | "providers"): ReadonlyMap<string, AliasRule> =>
  new Map(ALIAS_RULES.flatMap((rule) => (rule[by] ?? []).map((name) => [name, rule] as const)));
const BY_DOMAIN = indexed("domains");
const BY_FAMILY = indexed("families");
const BY_PROVIDER = indexed("providers");

export function aliasOf(address: Address, mail: MailHosts): "sub_address" | "relay" | undefined {
  if (isSubAddress(address, mail)) return "sub_address";
  const isRelayed = relayOfDomain(address.domain) !== undefined || relayOfMail(mail) !== undefined;
  return isRelayed ? "relay" : undefined;
}

const HAS_SEPARATOR = /[+=-]/;

function isSubAddress(address: Address, mail: MailHosts): boolean {
  const { localPart, domain } = address;
  const mayBe = HAS_SEPARATOR.test(localPart) || domain.name !== domain.registrableDomain;
  if (!mayBe) return false; // so that most addresses need no look at their mail hosts
  const rule = ruleOfDomain(domain) ?? ruleOfMail(mail) ?? PLAIN_RULE;
  if (mailboxUser(address).indexOf(rule.separator) > 0) return true;
  return rule.userAsSubdomain === true && userLabel(domain) !== undefined;
}

/** The domain alone tells: itself, the domain above at a provider with sub-domain users, or the family. */
function ruleOfDomain(domain: Domain, rules = MAILBOX_RULES): AliasRule | undefined {
  const { name, publicSuffix, registrableDomain } = domain;
  const rule = BY_DOMAIN.get(registrableDomain ?? name);
  if (rule !== undefined) {
    if (rule.since > rules) return undefined;
    return name === registrableDomain || rule.userAsSubdomain === true ? rule : undefined;
  }
  if (name !== registrableDomain) return undefined;
  return BY_FAMILY.get(name.slice(0, name.length - publicSuffix.length - 1));
}

function ruleOfMail(mail: MailHosts): AliasRule | undefined {
  const known = providerOfMail(mail);
  return known && BY_PROVIDER.get(known.provider);
}

/** "user" of "user.fastmail.com": the one label left of the registrable domain; undefined for none or several. */
function userLabel({ name, registrableDomain }: Domain): string | undefined {
  if (registrableDomain === undefined || name === registrableDomain) return undefined;
  const label = name.slice(0, name.length - registrableDomain.length - 1);
  return label.includes(".") ? undefined : label;
}

/** One text per mailbox, by the address alone, its own canonical form. `rules`: up to which number of `MAILBOX_RULES`. */
export function canonicalAddress(address: Address, rules = MAILBOX_RULES): string {
  const { localPart, quoted, domain } = address;
  // Quotes and the normal form of Unicode count under the first rules.
  if (quoted && rules === 1) return `${localPart}@${domain.name}`;
  const local = rules === 1 ? localPart.toLowerCase() : userBy(address, rules);
  const rule = ruleOfDomain(domain, rules) ?? PLAIN_RULE;
  const user = rule.userAsSubdomain === true ? userLabel(domain) : undefined;
  if (user !== undefined) return `${user}@${domain.registrableDomain ?? domain.name}`;
  const mailbox = withQuotes(withoutDetail(folded(local, rule), rule));
  return `${mailbox}@${rule.canonicalDomain ?? domain.name}`;
}

/** Canonical forms of the address under earlier rules where they differ, newest first. */
export function formerAddresses(address: Address): readonly string[] {
  const forms = new Set([canonicalAddress(address)]);
  for (let rules = MAILBOX_RULES - 1; rules > 0; rules -= 1)
    forms.add(canonicalAddress(address, rules));
  return [...forms].slice(1);
}

const userBy = (address: Address, rules: number): string =>
  rules < 3 ? mailboxUser(address) : caseless(mailboxUser(address));

/** "STRASSE" and "stra\u00dfe", and both small sigmas, are one name (Unicode 15.1, section 3.13.3); the dotless i is a letter of its own. */
function caseless(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  const folds = text.replace(/[^\u0131]+/g, (part) => part.toUpperCase().toLowerCase());
  return folds.replaceAll("\u03c2", "\u03c3").normalize("NFC");
}

/** What stands before the separator; all of it if that is not a local part: "+x" and "a.+x" stay whole. */
function withoutDetail(local: string, { separator }: AliasRule): string {
  const at = local.indexOf(separator);
  return at > 0 && local.charAt(at - 1) !== "." ? local.slice(0, at) : local;
}

/** Nothing is ignored where nothing would be left. */
function folded(local: string, { ignored, hyphens }: AliasRule): string {
  if (ignored !== undefined) return local.replace(ignored, "") || local;
  return hyphens === undefined ? local : local.replace(hyphens, "-");
}

/** Whether the provider gives out names of such characters; of a domain that the table does not know nobody can tell. */
export function isIssued(address: Address): boolean {
  const issued = ISSUED_BY_DOMAIN.get(address.domain.name);
  return issued === undefined || issued.test(subAddress(mailboxUser(address)).user);
}
