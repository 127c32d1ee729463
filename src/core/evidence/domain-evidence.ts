import { DEDICATED_MAIL_SERVERS, FREE_REGISTRIES, WEAK_REGISTRIES } from "../tables/data.ts";
import { hostStanding, listEvidence } from "./list-evidence.ts";
import type { Datasets } from "./datasets.ts";
import { type Domain, isAtOrUnder, registrableOf } from "../name/domain.ts";
import { keywordEvidence } from "./names/keywords.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import {
  isCommonCarrier,
  isSharedMailHost,
  relayOfDomain,
  relayOfMail,
} from "../mail/mail-carriers.ts";
import { type Evidence, evidence } from "./signals.ts";
import { typoTarget } from "./names/typo.ts";

/** Hosts on the shared-mail list have no reputation, even if lists have them, unless the operator denies them. */
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

/**
 * The one brand that others put into their names to look like it: +0.5 points of recall on abuse lists for one hit among
 * 200,900 legitimate names (2026-11). Others were tried on the bundled packages and refused: hotmail, outlook and yahoo
 * run under dozens of national endings of their own, icloud and protonmail find next to nothing.
 */
const BRAND = "gmail";
const BRAND_OWNS = ["gmail.com", "googlemail.com", "google.com"];
const BRAND_SPARES = "gmailify.com";

/** What stands before it when its first letter belongs to another word: "booking" + "mail", "blog" + "mail". */
const NOT_AFTER = ["n", "bi", "blo", "do", "fro", "or"];

function hasBrand(name: string, end: number): boolean {
  let at = name.indexOf(BRAND);
  while (at >= 0 && at + BRAND.length <= end) {
    const before = name.slice(0, at);
    if (!NOT_AFTER.some((ending) => before.endsWith(ending))) return true;
    at = name.indexOf(BRAND, at + BRAND.length);
  }
  return false;
}

function lookalikeEvidence(domain: Domain): Evidence | undefined {
  const { name, publicSuffix, registrableDomain } = domain;
  if (!hasBrand(name, name.length - publicSuffix.length)) return undefined;
  if (BRAND_OWNS.some((own) => isAtOrUnder(name, own))) return undefined;
  if ((registrableDomain ?? name) === BRAND_SPARES) return undefined;
  return evidence("lookalike_provider", { subject: "gmail.com" });
}

/** What speaks for "disposable", and notes on it. The caller drops what a known-good domain is excused of. */
export function domainEvidence(domain: Domain, mail: MailHosts, datasets: Datasets): Evidence[] {
  const relay = relayOfDomain(domain);
  if (relay !== undefined) return [...denial(domain, datasets), relayNote(relay)];
  const slipOf = typoTarget(domain.name, datasets);
  const pieces: Evidence[] = [];
  const add = (piece: Evidence | undefined): void => {
    if (piece !== undefined) pieces.push(piece);
  };
  const listed = listEvidence(domain, mail, datasets);
  add(slipOf === undefined ? listed : besideTypo(listed));
  add(mailServerEvidence(mail, { domain, datasets, counted: listed?.subject }));
  add(keywordEvidence(domain));
  // "gmaill.com" is not an imitation but a typing error.
  if (slipOf === undefined) add(lookalikeEvidence(domain));
  else add(evidence("typo_domain", { subject: slipOf }));
  add(freeRegistryEvidence(domain.name));
  add(customerNote(mail));
  return pieces;
}

/** Uncurated lists hold many misspellings of providers, so they count for nothing beside `typo_domain`. */
const besideTypo = (piece: Evidence | undefined): Evidence | undefined =>
  piece?.signal === "blacklist_single" ? { ...piece, weight: 0 } : piece;

/** Lists disagree on relays and are not asked; only the operator's own word counts. */
function denial(domain: Domain, datasets: Datasets): readonly Evidence[] {
  if (datasets.operator.domain(domain.name) !== "deny") return [];
  return [evidence("blacklist_exact", { subject: domain.name, sources: 0 })];
}

const relayNote = (service: string): Evidence => evidence("privacy_relay", { subject: service });

/** What lists say of it stays: its owner chooses the mail host, and would excuse any name by pointing it there. */
function customerNote(mail: MailHosts): Evidence | undefined {
  const service = relayOfMail(mail);
  return service === undefined ? undefined : relayNote(service);
}

/** Below a registry that honest people use too: together with a young domain it is not enough for a verdict. */
const AT_WEAK_REGISTRY = 0.25;

function freeRegistryEvidence(name: string): Evidence | undefined {
  const last = name.lastIndexOf(".");
  const second = last > 0 ? name.lastIndexOf(".", last - 1) : -1;
  if (second < 0) return undefined;
  const registry = name.slice(second + 1);
  const isWeak = WEAK_REGISTRIES.has(registry);
  if (!isWeak && !FREE_REGISTRIES.has(registry)) return undefined;
  const piece = evidence("free_registry_suffix", { subject: registry });
  return isWeak ? { ...piece, weight: AT_WEAK_REGISTRY } : piece;
}
