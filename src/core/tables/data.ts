import { rowsOf } from "./rows.ts";
import * as TEXTS from "./texts.ts";

export const listOf = (table: string): readonly string[] =>
  rowsOf(table).map(([name = ""]) => name);

const setOf = (table: string): ReadonlySet<string> => new Set(listOf(table));

const words = (cell = ""): readonly string[] => (cell === "" ? [] : cell.split(" "));

export const ANONYMOUS_HOSTS = setOf(TEXTS.anonymousHosts);
export const DYNAMIC_DNS = setOf(TEXTS.dynamicDns);
export const FAMILY_EXCEPTIONS = setOf(TEXTS.familyExceptions);
export const FREE_REGISTRIES = setOf(TEXTS.freeRegistries);
export const WEAK_REGISTRIES = setOf(TEXTS.weakRegistries);
export const HONEYPOT_LOCAL_PARTS = setOf(TEXTS.honeypots);
export const REMOVAL_PAGES: ReadonlyMap<string, string> = new Map(
  rowsOf(TEXTS.feeds).map((row) => [row[0] ?? "", row[7] ?? ""]),
);

export const LOOK_ALIKES = rowsOf(TEXTS.lookAlikes).map(
  ([plain = "", twins = ""]) => [plain, twins] as const,
);
export const AGENT_MAILBOXES = setOf(TEXTS.agentMailboxes);
export const SMS_GATEWAYS = setOf(TEXTS.smsGateways);
export const SPECIAL_USE_NAMES = setOf(TEXTS.specialUseNames);
export const SHARED_MAIL_SUFFIXES = setOf(TEXTS.sharedMailSuffixes);
export const LARGE_MAILBOX_PROVIDERS = setOf(TEXTS.largeMailboxProviders);
export const REAL_NEIGHBOURS = setOf(TEXTS.providerNeighbours);

export const DEDICATED_MAIL_SERVERS = setOf(TEXTS.dedicatedMailServers);

/** A list of disposable domains that holds one of them was tampered with or broke. */
export const BEST_KNOWN_PROVIDERS: readonly string[] = listOf(TEXTS.largeProviders).flatMap(
  (name) => (name.endsWith(" *") ? name.slice(0, -2) : []),
);
export const LARGE_PROVIDERS: ReadonlySet<string> = new Set(
  listOf(TEXTS.largeProviders).map((name) => name.replace(" *", "")),
);

/** Shared as well, and so common that a look at these first saves most of the others. */
export const COMMON_CARRIERS: readonly string[] = ["google.com", "outlook.com", "googlemail.com"];

/** What stands behind a mail host: only a `mailbox` provider keeps the mail itself. */
export type MailHostKind = "mailbox" | "gateway" | "forwarder" | "relay" | "esp";

export interface ProviderRow {
  readonly provider: string;
  readonly kind: MailHostKind;
  /** Lower case; a host is the suffix or lies under it. "*" as the second label stands for any one label. */
  readonly suffixes: readonly string[];
}

export const INBOX_PROVIDERS: readonly ProviderRow[] = rowsOf(TEXTS.inboxProviders).map(
  ([provider = "", kind, suffixes]) => ({
    provider,
    kind: kind as MailHostKind,
    suffixes: words(suffixes),
  }),
);

export interface RelayRow {
  readonly service: string;
  readonly domains: readonly string[];
  /** Whether names below its domains are aliases too ("anything@user.anonaddy.com"). */
  readonly subdomains: boolean;
  readonly mailHosts: readonly string[];
}

export const RELAYS: readonly RelayRow[] = rowsOf(TEXTS.relays).map(
  ([service = "", domains, subdomains, mailHosts]) => ({
    service,
    domains: words(domains),
    subdomains: subdomains === "yes",
    mailHosts: words(mailHosts),
  }),
);

export interface TagSeparatorRow {
  readonly separator: string;
  /** "yahoo.*" is the label in front of any public suffix. */
  readonly domains: readonly string[];
  readonly provider: string;
  readonly since: number;
}

export const TAG_SEPARATORS: readonly TagSeparatorRow[] = rowsOf(TEXTS.tagSeparators).map(
  ([separator = "", domains, provider = "", since]) => ({
    separator,
    domains: words(domains),
    provider,
    since: Number(since),
  }),
);

/** A domain gives out names of mailboxes that are made of such characters alone. */
export const ISSUED_BY_DOMAIN: ReadonlyMap<string, RegExp> = new Map(
  rowsOf(TEXTS.issuedCharacters).flatMap(([characters = "", domains]) => {
    const all = new RegExp(`^[${characters}]*$`);
    return words(domains).map((domain) => [domain, all] as const);
  }),
);

export const wordsByName = (table: string): readonly (readonly [string, readonly string[]])[] =>
  rowsOf(table).map(([provider = "", cell]) => [provider, words(cell)]);

export const SPF_INCLUDES = wordsByName(TEXTS.spfIncludes);

const { any = [], rare = [], ...SELECTORS } = Object.fromEntries(wordsByName(TEXTS.dkimSelectors));
export const SELECTORS_OF_PROVIDER: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(SELECTORS),
);
export const COMMON_SELECTORS: readonly string[] = any;
/** Asked while questions are left, likeliest first. */
export const RARER_SELECTORS: readonly string[] = rare;

let commonPasswords: ReadonlySet<string> | undefined;

/** Whether it is one of the commonest, also with figures and marks at its ends. */
export function isCommonPassword(password: string): boolean {
  commonPasswords ??= setOf(TEXTS.commonPasswords);
  const text = password.trim().toLowerCase();
  return commonPasswords.has(text) || commonPasswords.has(text.replace(/^[^a-z]+|[^a-z]+$/g, ""));
}
