import { isHostName, isSpecialUse } from "../name/domain.ts";
import type { Answer, Lookup, MailExchange } from "./lookup.ts";
import { isReachable } from "../name/reachable.ts";

/** Where mail for a domain goes. "None" and "could not tell" stay different. */
export type MailHosts =
  | {
      readonly kind: "hosts";
      /** Usable mail hosts in preference order; at least one. */
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

/** How many mail hosts of one domain are asked for their addresses, at the most. */
const HOSTS_TRIED_MAX = 20;

/**
 * Finds the usable mail hosts of `name` (lower-case A-labels): RFC 5321 section 5.1, RFC 7505.
 * Hosts are tried in preference order until one resolves to an address that mail can reach; hosts that
 * DNS denies are left out, hosts without an answer stay in.
 */
export async function findMailHosts(
  name: string,
  lookup: Pick<Lookup, "mx" | "addresses">,
  implicitMx: boolean,
): Promise<MailHosts> {
  if (isSpecialUse(name)) return { kind: "none", why: "specialUse" };
  const answer = await lookup.mx(name);
  if (answer.kind === "unknown") return { kind: "unknown" };
  if (answer.kind === "found") return usable(answer.records, lookup);
  if (answer.why === "noName") return { kind: "none", why: "noMx" };
  return implicit(name, lookup, implicitMx);
}

async function implicit(
  name: string,
  lookup: Pick<Lookup, "addresses">,
  implicitMx: boolean,
): Promise<MailHosts> {
  const answer = await lookup.addresses(name);
  const reached = reach(answer);
  if (reached === "no") return { kind: "none", why: "noMx" };
  if (!implicitMx) return { kind: "none", why: reached === "yes" ? "implicitMx" : "noMx" };
  if (reached === "unknown") return { kind: "unknown" };
  return { kind: "hosts", hosts: [name], implicit: true };
}

async function usable(
  records: readonly MailExchange[],
  lookup: Pick<Lookup, "addresses">,
): Promise<MailHosts> {
  if (records.every(({ host }) => host === "")) return { kind: "none", why: "nullMx" };
  const hosts = candidates(records);
  let addresses: readonly string[] | undefined;
  for (let tried = 0; tried < hosts.length; tried += 1) {
    const host = hosts[tried];
    if (host === undefined) break;
    const answer = await lookup.addresses(host);
    const reached = reach(answer);
    if (reached === "no") hosts.splice(tried--, 1);
    if (reached !== "yes" || answer.kind !== "found") continue;
    addresses = answer.records.filter(isReachable);
    break;
  }
  if (hosts.length === 0) return { kind: "none", why: "unresolvable" };
  const found = { kind: "hosts", hosts, implicit: false } as const;
  return addresses === undefined ? found : { ...found, addresses };
}

/** Host names that mail can be sent to, by preference and then by name: DNS turns equal ones around. */
function candidates(records: readonly MailExchange[]): string[] {
  const named = records.filter(({ host }) => isHostName(host) && !isSpecialUse(host));
  if (named.length < 2) return named.map(({ host }) => host);
  named.sort((a, b) => a.preference - b.preference || (a.host < b.host ? -1 : 1));
  return [...new Set(named.map(({ host }) => host))].slice(0, HOSTS_TRIED_MAX);
}

/** Whether mail can reach one of these addresses: yes, no on authority, or could not tell. */
function reach(answer: Answer<string>): "yes" | "no" | "unknown" {
  if (answer.kind === "unknown") return "unknown";
  return answer.kind === "found" && answer.records.some(isReachable) ? "yes" : "no";
}
