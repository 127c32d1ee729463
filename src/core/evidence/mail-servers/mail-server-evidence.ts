import type { Datasets } from "../datasets.ts";
import { type Domain, isAtOrUnder, registrableOf } from "../../name/domain.ts";
import type { MailHosts } from "../../mail/mail-hosts.ts";
import { isCommonCarrier, isSharedMailHost } from "../../mail/mail-carriers.ts";
import { type Evidence, evidence } from "../signals.ts";
import { hostStanding } from "../standing.ts";
import { DEDICATED_MAIL_SERVERS } from "../../tables/data.ts";

/**
 * `blacklist_mx` for a host that is dedicated to disposable domains or strongly listed, itself or its
 * registrable domain, else `mx_shared_disposable`; undefined when no host has such a reputation. Hosts on
 * the shared-mail list have none, even if lists have them, unless the operator denies them.
 */
export function mailServerEvidence(mail: MailHosts, place: Place): Evidence | undefined {
  const { datasets } = place;
  if (mail.kind !== "hosts") return undefined;
  let shared: Evidence | undefined;
  let lent = NOTHING_LENT;
  for (const host of mail.hosts) {
    const word = datasets.operator.mailHost(host);
    if (word === "deny") return evidence("blacklist_mx", { subject: host });
    if (word === "allow" || isCommonCarrier(host)) continue;
    lent = lentTo(host, lent, place);
    const found = hostEvidence(host, lent.reputation, place);
    if (found?.signal === "blacklist_mx") return found;
    shared ??= found;
  }
  return byAddress(mail, datasets) ?? shared;
}

/**
 * "mail.<own domain>" tells nothing by its name, and its address may: one that was learned. A host that carries
 * anybody's mail, or on which the operator has spoken, is not checked by the machine it runs on.
 */
function byAddress(
  { hosts, addresses = [] }: MailHosts & { readonly kind: "hosts" },
  { operator, mailServers }: Datasets,
): Evidence | undefined {
  const kinds = addresses.map((address) =>
    DEDICATED_MAIL_SERVERS.has(address) ? "dedicated" : mailServers.kindOf(address),
  );
  const kind = kinds.find((known) => known === "dedicated") ?? kinds.find(Boolean);
  const host = hosts[0] ?? "";
  if (kind === undefined || operator.mailHost(host) === "allow") return undefined;
  if (isCommonCarrier(host) || isSharedMailHost(host)) return undefined;
  const signal = kind === "dedicated" ? "blacklist_mx" : "mx_shared_disposable";
  const subject = addresses[kinds.indexOf(kind)];
  return evidence(signal, { sources: 0, ...(subject !== undefined && { subject }) });
}

/** A bad reputation, and the lists behind it (bits of `Datasets.sources`). */
interface Reputation {
  readonly signal: "blacklist_mx" | "mx_shared_disposable";
  readonly sources: number;
}

/** What the registrable domain above a host lends to every host with the same labels after the first. */
interface Lent {
  readonly tail: string;
  readonly reputation: Reputation | undefined;
}

const NOTHING_LENT: Lent = { tail: "", reputation: undefined };

interface Place {
  readonly domain: Domain;
  readonly datasets: Datasets;
  /** The listed name that speaks against the domain already: it is not counted once more as its own mail server. */
  readonly counted: string | undefined;
}

/** The hosts of one domain mostly lie side by side, and looking their registrable domain up is dear. */
function lentTo(host: string, before: Lent, place: Place): Lent {
  const tail = host.slice(host.indexOf(".") + 1);
  if (tail === before.tail) return before;
  const own = place.domain.privateRegistrableDomain;
  const registrable = own !== undefined && isAtOrUnder(host, own) ? own : registrableOf(host);
  if (registrable === undefined || registrable === host) return NOTHING_LENT; // asked as a host
  return { tail, reputation: badName(registrable, place) };
}

function hostEvidence(
  host: string,
  lent: Reputation | undefined,
  place: Place,
): Evidence | undefined {
  const learned = place.datasets.mailServers.kindOf(host);
  const bad = learned === "dedicated" ? DEDICATED : (badName(host, place) ?? lent);
  const found = bad ?? (learned === "shared" ? SHARED : undefined);
  // Asked last, for hosts with a reputation are few.
  if (found === undefined || isSharedMailHost(host)) return undefined;
  return evidence(found.signal, { subject: host, sources: found.sources });
}

const DEDICATED: Reputation = { signal: "blacklist_mx", sources: 0 };
const SHARED: Reputation = { signal: "mx_shared_disposable", sources: 0 };

/** Of a mail host or of a registrable domain above one: known as dedicated, or strongly listed. */
function badName(name: string, { datasets, counted }: Place): Reputation | undefined {
  if (DEDICATED_MAIL_SERVERS.has(name)) return DEDICATED;
  if (name === counted) return undefined;
  const standing = hostStanding(name, datasets);
  if (standing?.strength !== "strong") return undefined;
  return { signal: "blacklist_mx", sources: standing.sources };
}
