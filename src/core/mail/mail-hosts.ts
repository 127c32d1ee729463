import {
  type Domain,
  isAtOrUnder,
  isMailHost,
  isSpecialUse,
  nextLabel,
  registrableOf,
  selfAndParents,
} from "../name/domain.ts";
import { type Answer, type Awaitable, type Lookup, type MailExchange, when } from "./lookup.ts";
import { isReachable } from "../name/ip-address.ts";
import {
  AGENT_MAILBOXES,
  COMMON_CARRIERS,
  INBOX_PROVIDERS,
  LARGE_MAILBOX_PROVIDERS,
  LARGE_PROVIDERS,
  type ProviderRow,
  RELAYS,
  SHARED_MAIL_SUFFIXES,
} from "../tables/data.ts";

/** Where mail for a domain goes. "None" and "could not tell" stay different. */
export type MailHosts =
  | {
      readonly kind: "hosts";
      readonly hosts: readonly string[];
      readonly implicit: boolean;
      /** Addresses of the first host that could be resolved, as far as mail can reach them; absent when none could. */
      readonly addresses?: readonly string[];
    }
  | { readonly kind: "none"; readonly why: NoMailReason }
  | { readonly kind: "unknown" };

/** `implicitMx`: none by MX, though an address record is there and the operator does not count it. */
export type NoMailReason = "noMx" | "nullMx" | "implicitMx" | "unresolvable" | "specialUse";

const HOSTS_MAX = 20;

/** How long the names of more than two may be together: it is the domain's owner who writes them. */
const NAMES_MAX_OCTETS = 2_048;

/** What is known before DNS is asked: special-use names never take mail (RFC 6761). */
export const mailWithoutDns = (name: string): MailHosts =>
  isSpecialUse(name) ? { kind: "none", why: "specialUse" } : { kind: "unknown" };

/** RFC 5321 section 5.1, RFC 7505. Of five hosts in preference order the first counts that mail can reach. */
export function findMailHosts(
  name: string,
  lookup: Pick<Lookup, "mx" | "addresses">,
  implicitMx: boolean,
): Awaitable<MailHosts> {
  const known = mailWithoutDns(name);
  if (known.kind === "none") return known;
  return when(lookup.mx(name), (answer): Awaitable<MailHosts> => {
    if (answer.kind === "unknown") return { kind: "unknown" };
    if (answer.kind === "found") return usable(answer.records, lookup);
    if (answer.why === "noName") return { kind: "none", why: "noMx" };
    return implicit(name, lookup, implicitMx);
  });
}

function implicit(
  name: string,
  lookup: Pick<Lookup, "addresses">,
  implicitMx: boolean,
): Awaitable<MailHosts> {
  return when(lookup.addresses(name), (answer): MailHosts => {
    if (answer.kind === "unknown") {
      // Where a filter withholds the addresses, its "no MX" is no better.
      return implicitMx || answer.why === "filtered" ? { kind: "unknown" } : NO_MX;
    }
    if (reachable(answer).length === 0) return NO_MX;
    if (!implicitMx) return { kind: "none", why: "implicitMx" };
    return { kind: "hosts", hosts: [name], implicit: true };
  });
}

const NO_MX: MailHosts = { kind: "none", why: "noMx" };

function usable(
  records: readonly MailExchange[],
  lookup: Pick<Lookup, "addresses">,
): Awaitable<MailHosts> {
  if (records.every(({ host }) => host === "")) return { kind: "none", why: "nullMx" };
  const hosts = triedExchanges(records).map(({ host }) => host);
  return tryHosts(hosts, { at: 0, asked: 0 }, lookup);
}

function tryHosts(
  hosts: string[],
  { at, asked }: { readonly at: number; readonly asked: number },
  lookup: Pick<Lookup, "addresses">,
): Awaitable<MailHosts> {
  const host = hosts[at];
  if (host === undefined || asked === HOSTS_ASKED_MAX) {
    if (hosts.length === 0) return { kind: "none", why: "unresolvable" };
    return { kind: "hosts", hosts, implicit: false };
  }
  return when(lookup.addresses(host), (answer): Awaitable<MailHosts> => {
    if (answer.kind === "unknown") return tryHosts(hosts, { at: at + 1, asked: asked + 1 }, lookup);
    const addresses = reachable(answer);
    if (addresses.length > 0) return { kind: "hosts", hosts, implicit: false, addresses };
    hosts.splice(at, 1);
    return tryHosts(hosts, { at, asked: asked + 1 }, lookup);
  });
}

/** An entry costs 11 questions at most: its owner may name twenty hosts in the zone of somebody else. */
const HOSTS_ASKED_MAX = 5;

/** Leaves at most 20, and of those after the second only 2 KiB of names. RFC 5321 section 5.1 allows a limit and asks for two. */
export function triedExchanges(records: readonly MailExchange[]): MailExchange[] {
  const named = records.filter(({ host }) => isMailHost(host) && !isSpecialUse(host));
  if (named.length < 2) return named;
  named.sort((a, b) => a.preference - b.preference || (a.host < b.host ? -1 : 1));
  const tried = new Map<string, MailExchange>();
  let octets = 0;
  for (const exchange of named) {
    const { host } = exchange;
    if (tried.has(host)) continue;
    octets += host.length;
    if (tried.size === HOSTS_MAX || (tried.size >= 2 && octets > NAMES_MAX_OCTETS)) break;
    tried.set(host, exchange);
  }
  return [...tried.values()];
}

const reachable = (answer: Answer<string>): readonly string[] =>
  answer.kind === "found" ? answer.records.filter(isReachable) : [];

type InboxProvider = Pick<ProviderRow, "provider" | "kind">;

const BY_SUFFIX = new Map<string, ProviderRow>();

/** "inbound-smtp.*.amazonaws.com" has the head "inbound-smtp." and the tail ".amazonaws.com". */
const WILDCARDS: { readonly head: string; readonly tail: string; readonly row: ProviderRow }[] = [];

for (const row of INBOX_PROVIDERS) {
  for (const suffix of row.suffixes) {
    const [head = "", tail] = suffix.split("*");
    if (tail === undefined) BY_SUFFIX.set(suffix, row);
    else WILDCARDS.push({ head, tail, row });
  }
}

/** The longest known suffix of a mail host wins, on label boundaries; those with "*" come last. */
export function providerOfHost(host: string): InboxProvider | undefined {
  for (let start = 0; start >= 0; start = nextLabel(host, start)) {
    const row = BY_SUFFIX.get(start === 0 ? host : host.slice(start));
    if (row !== undefined) return row;
  }
  for (const { head, tail, row } of WILDCARDS) {
    if (!host.endsWith(tail)) continue;
    const anyLabelAt = host.lastIndexOf(".", host.length - tail.length - 1) + 1;
    if (`.${host.slice(0, anyLabelAt)}`.endsWith(`.${head}`)) return row;
  }
  return undefined;
}

export function providerOfMail(mail: MailHosts): InboxProvider | undefined {
  if (mail.kind !== "hosts" || mail.implicit) return undefined;
  for (const host of mail.hosts) {
    const known = providerOfHost(host);
    if (known !== undefined) return known;
  }
  return undefined;
}

const BY_DOMAIN = new Map(
  RELAYS.flatMap((row) => row.domains.map((domain) => [domain, row] as const)),
);
const MAIL_HOSTS = RELAYS.flatMap((row) =>
  row.mailHosts.map((suffix) => ({ suffix, service: row.service })),
);

const REGISTRABLE: ReadonlySet<string> = new Set(
  [...BY_DOMAIN.keys()].map((domain) => registrableOf(domain) ?? domain),
);

export function relayOfDomain({ name, registrableDomain }: Domain): string | undefined {
  if (registrableDomain === undefined || !REGISTRABLE.has(registrableDomain)) return undefined;
  for (const above of selfAndParents(name, registrableDomain)) {
    const row = BY_DOMAIN.get(above);
    if (row !== undefined && (row.subdomains || above === name)) return row.service;
  }
  return undefined;
}

export function relayOfMail(mail: MailHosts): string | undefined {
  const host = mail.kind === "hosts" ? (mail.hosts[0] ?? "") : "";
  for (const { suffix, service } of MAIL_HOSTS) if (isAtOrUnder(host, suffix)) return service;
  return undefined;
}

/** Only the preferred host counts: any domain can name a large provider behind its own. */
export function usesLargeProvider(mail: MailHosts): boolean {
  const preferred = mail.kind === "hosts" ? (mail.hosts[0] ?? "") : "";
  return LARGE_MAILBOX_PROVIDERS.has(providerOfHost(preferred)?.provider ?? "");
}

export function isCommonCarrier(host: string): boolean {
  for (const suffix of COMMON_CARRIERS) if (isAtOrUnder(host, suffix)) return true;
  return false;
}

/** Whether a host carries anybody's mail, so that no list's word on it says anything of one customer. */
export function isSharedMailHost(host: string): boolean {
  if (providerOfHost(host) !== undefined) return true;
  for (let start = 0, dot = 0; dot >= 0; start = dot + 1) {
    const suffix = host.slice(start);
    if (SHARED_MAIL_SUFFIXES.has(suffix) || LARGE_PROVIDERS.has(suffix)) return true;
    dot = host.indexOf(".", start);
  }
  return false;
}

/** What kind of service takes a domain's mail. `sender`: one that sends mail for its customers; `agent`: one for AI agents; `own`: a host of the domain. */
export const MAIL_KINDS = [
  "mailbox",
  "gateway",
  "forwarder",
  "relay",
  "sender",
  "agent",
  "own",
  "unknown",
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export function mailKindOf(domain: Domain, mail: MailHosts): MailKind | undefined {
  if (relayOfDomain(domain) !== undefined || relayOfMail(mail) !== undefined) return "relay";
  if (mail.kind !== "hosts") return undefined;
  if (AGENT_MAILBOXES.has(domain.registrableDomain ?? domain.name)) return "agent";
  const [preferred = ""] = mail.hosts;
  const own = domain.registrableDomain ?? domain.name;
  const isOwn = mail.implicit || isAtOrUnder(preferred, own);
  const known = providerOfHost(preferred) ?? (isOwn ? undefined : providerOfMail(mail));
  if (known !== undefined && !mail.implicit) return known.kind === "esp" ? "sender" : known.kind;
  return isOwn ? "own" : "unknown";
}
