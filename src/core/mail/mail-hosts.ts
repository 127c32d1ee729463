import { isHostName, isSpecialUse } from "../name/domain.ts";
import type { Answer, Awaitable, Lookup, MailExchange } from "./lookup.ts";
import { isReachable } from "../name/ip-address.ts";

/** Where mail for a domain goes. "None" and "could not tell" stay different. */
export type MailHosts =
  | {
      readonly kind: "hosts";
      readonly hosts: readonly string[];
      /** Whether only an address record stands behind it (RFC 5321 section 5.1). */
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

/**
 * RFC 5321 section 5.1, RFC 7505. Hosts are tried in preference order until one resolves to an address that mail can
 * reach; hosts that DNS denies are left out, hosts without an answer stay in.
 */
export function findMailHosts(
  name: string,
  lookup: Pick<Lookup, "mx" | "addresses">,
  implicitMx: boolean,
): Awaitable<MailHosts> {
  if (isSpecialUse(name)) return { kind: "none", why: "specialUse" };
  return withAnswer(lookup.mx(name), (answer) => {
    if (answer.kind === "unknown") return { kind: "unknown" };
    if (answer.kind === "found") return usable(answer.records, lookup);
    if (answer.why === "noName") return { kind: "none", why: "noMx" };
    return implicit(name, lookup, implicitMx);
  });
}

/** `read`, at once when the answer is there: a promise and its turn cost more than what follows. */
function withAnswer<T>(
  answer: Awaitable<Answer<T>>,
  read: (answer: Answer<T>) => Awaitable<MailHosts>,
): Awaitable<MailHosts> {
  return answer instanceof Promise ? answer.then(read) : read(answer);
}

function implicit(
  name: string,
  lookup: Pick<Lookup, "addresses">,
  implicitMx: boolean,
): Awaitable<MailHosts> {
  return withAnswer(lookup.addresses(name), (answer) => {
    if (answer.kind === "unknown") return implicitMx ? { kind: "unknown" } : NO_MX;
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
  return tryHosts(candidates(records), 0, lookup);
}

function tryHosts(
  hosts: string[],
  at: number,
  lookup: Pick<Lookup, "addresses">,
): Awaitable<MailHosts> {
  const host = hosts[at];
  if (host === undefined) {
    if (hosts.length === 0) return { kind: "none", why: "unresolvable" };
    return { kind: "hosts", hosts, implicit: false };
  }
  return withAnswer(lookup.addresses(host), (answer) => {
    if (answer.kind === "unknown") return tryHosts(hosts, at + 1, lookup);
    const addresses = reachable(answer);
    if (addresses.length > 0) return { kind: "hosts", hosts, implicit: false, addresses };
    hosts.splice(at, 1);
    return tryHosts(hosts, at, lookup);
  });
}

const candidates = (records: readonly MailExchange[]): string[] =>
  triedExchanges(records).map(({ host }) => host);

/** At most 20, and of those after the second only 2 KiB of names. RFC 5321 section 5.1 allows a limit and asks for two. */
export function triedExchanges(records: readonly MailExchange[]): MailExchange[] {
  const named = records.filter(({ host }) => isHostName(host) && !isSpecialUse(host));
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
