import {
  type Domain,
  isAtOrUnder,
  nextLabel,
  registrableOf,
  selfAndParents,
} from "../name/domain.ts";
import type { MailHosts } from "./mail-hosts.ts";
import {
  COMMON_CARRIERS,
  INBOX_PROVIDERS,
  LARGE_MAILBOX_PROVIDERS,
  LARGE_PROVIDERS,
  type MailHostKind,
  type ProviderRow,
  RELAYS,
  SHARED_MAIL_SUFFIXES,
} from "../tables/data.ts";

interface InboxProvider {
  readonly provider: string;
  readonly kind: MailHostKind;
}

/** What the table says at one suffix of a host, from its last labels. */
interface Node {
  row?: ProviderRow;
  /** By the label two to the left: "inbound-smtp" at "amazonaws.com" for "inbound-smtp.*.amazonaws.com". */
  wildcards?: Map<string, ProviderRow>;
}

const NODES: ReadonlyMap<string, Node> = nodesOf(INBOX_PROVIDERS);

function nodesOf(rows: readonly ProviderRow[]): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  const at = (suffix: string): Node => {
    const node = nodes.get(suffix) ?? {};
    nodes.set(suffix, node);
    return node;
  };
  for (const row of rows) {
    for (const suffix of row.suffixes) {
      const [head = "", tail] = suffix.split(".*.");
      if (tail === undefined) at(suffix).row = row;
      else (at(tail).wildcards ??= new Map()).set(head, row);
    }
  }
  return nodes;
}

/** The longest known suffix of a mail host wins, on label boundaries; of two equally long ones that without "*". */
export function providerOfHost(host: string): InboxProvider | undefined {
  for (let start = 0; start >= 0; start = nextLabel(host, start)) {
    const node = NODES.get(start === 0 ? host : host.slice(start));
    if (node === undefined) continue;
    const row = node.row ?? node.wildcards?.get(labelBeforeLast(host, start));
    if (row !== undefined) return row;
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

/** The label two to the left of `start`: "head" of "head.any.tail" where "tail" starts; "" for none. */
function labelBeforeLast(host: string, start: number): string {
  const any = host.lastIndexOf(".", start - 2);
  return any < 0 ? "" : host.slice(host.lastIndexOf(".", any - 1) + 1, any);
}

const BY_DOMAIN = new Map(
  RELAYS.flatMap((row) => row.domains.map((domain) => [domain, row] as const)),
);
const MAIL_HOSTS = RELAYS.flatMap((row) =>
  row.mailHosts.map((suffix) => ({ suffix, service: row.service })),
);

/** Most names end at this one look. */
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

/** By the preferred host alone: any domain can name a large provider behind its own. */
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

/** What kind of service takes a domain's mail. `sender`: one that sends mail for its customers; `own`: a host of the domain. */
export const MAIL_KINDS = [
  "mailbox",
  "gateway",
  "forwarder",
  "relay",
  "sender",
  "own",
  "unknown",
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** By the table of providers; undefined while nobody knows where the mail goes, and for no mail. */
export function mailKindOf(domain: Domain, mail: MailHosts): MailKind | undefined {
  if (relayOfDomain(domain) !== undefined || relayOfMail(mail) !== undefined) return "relay";
  if (mail.kind !== "hosts") return undefined;
  const [preferred = ""] = mail.hosts;
  const own = domain.registrableDomain ?? domain.name;
  const isOwn = mail.implicit || isAtOrUnder(preferred, own);
  const known = providerOfHost(preferred) ?? (isOwn ? undefined : providerOfMail(mail));
  if (known !== undefined && !mail.implicit) return known.kind === "esp" ? "sender" : known.kind;
  return isOwn ? "own" : "unknown";
}
