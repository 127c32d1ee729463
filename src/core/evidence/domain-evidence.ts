import {
  ANONYMOUS_HOSTS,
  DEDICATED_MAIL_SERVERS,
  FREE_REGISTRIES,
  WEAK_REGISTRIES,
} from "../tables/data.ts";
import type { Datasets, NameTable } from "./datasets.ts";
import {
  type Domain,
  isAtOrUnder,
  isSpecialUse,
  registrableOf,
  selfAndParents,
  SIGNALS_MAX,
} from "../name/domain.ts";
import { isHonest, keywordEvidence } from "./names/keywords.ts";
import {
  isCommonCarrier,
  isSharedMailHost,
  type MailHosts,
  relayOfDomain,
  relayOfMail,
  usesLargeProvider,
} from "../mail/mail-hosts.ts";
import { type Evidence, evidence, type Signal, SIGNALS } from "./signals.ts";
import { plainLook, typoTarget } from "./names/typo.ts";

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
    const found = hostEvidence(host, lent.bad, place);
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

/** What the registrable domain above a host lends to every host with the same labels after the first. */
interface Lent {
  readonly tail: string;
  readonly bad: number | undefined;
}

const NOTHING_LENT: Lent = { tail: "", bad: undefined };

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
  return { tail, bad: badSources(registrable, place) };
}

function hostEvidence(host: string, lent: number | undefined, place: Place): Evidence | undefined {
  const learned = place.datasets.mailServers.kindOf(host);
  const bad = learned === "dedicated" ? 0 : (badSources(host, place) ?? lent);
  if (bad === undefined && learned === undefined) return undefined;
  if (isSharedMailHost(host)) return undefined; // asked last, for hosts with a reputation are few
  const signal = bad === undefined ? "mx_shared_disposable" : "blacklist_mx";
  return evidence(signal, { subject: host, sources: bad ?? 0 });
}

/** The lists that strongly speak against a mail host or the domain above it, as bits; 0: it is known as dedicated or denied. */
function badSources(name: string, { datasets, counted }: Place): number | undefined {
  const { operator, knownGood } = datasets;
  if (DEDICATED_MAIL_SERVERS.has(name)) return 0;
  if (name === counted) return undefined;
  // An entry on the very name denies a host: the neighbours of names below "*.suffix" may use it too.
  if (operator.named(name) === "deny") return 0;
  if (operator.domain(name) === "allow") return undefined;
  const standing = listStanding(name, datasets);
  return standing?.strength === "strong" && !knownGood.has(name) ? standing.sources : undefined;
}

/**
 * The one brand that others put into their names to look like it: +0.5 points of recall on abuse lists for one hit among
 * 200,900 legitimate names (2026-11). Others were tried on the bundled packages and refused: hotmail, outlook and yahoo
 * run under dozens of national endings of their own, icloud and protonmail find next to nothing.
 */
const BRAND_OWNS = ["gmail.com", "googlemail.com", "google.com"];
const BRAND_SPARES = "gmailify.com";

/** Its first letter may belong to another word: "booking" + "mail", "blog" + "mail". */
const BRAND = /(?<!n|bi|blo|do|fro|or)gmail/;

/** Endings for universities alone, whose students' mail is named after the university: "jagmail.southalabama.edu". */
const SCHOOLS = /^(?:edu|ac|edu\.[a-z]{2}|ac\.[a-z]{2})$/;

function lookalikeEvidence(domain: Domain): Evidence | undefined {
  const { name, publicSuffix, registrableDomain } = domain;
  if (!BRAND.test(name.slice(0, name.length - publicSuffix.length))) return undefined;
  if (BRAND_OWNS.some((own) => isAtOrUnder(name, own))) return undefined;
  if ((registrableDomain ?? name) === BRAND_SPARES || isHonest(domain)) return undefined;
  if (name !== registrableDomain && SCHOOLS.test(publicSuffix)) return undefined;
  return evidence("lookalike_provider", { subject: "gmail.com" });
}

/** What speaks for "disposable", and notes on it. The caller drops what a known-good domain is excused of. */
export function domainEvidence(domain: Domain, mail: MailHosts, datasets: Datasets): Evidence[] {
  const relay = relayOfDomain(domain);
  if (relay !== undefined) {
    // Lists disagree on relays and are not asked; only the operator's own word counts.
    const isDenied = datasets.operator.domain(domain.name) === "deny";
    const denial = evidence("blacklist_exact", { subject: domain.name, sources: 0 });
    return isDenied ? [denial, relayNote(relay)] : [relayNote(relay)];
  }
  // Nobody can own such a name, so it imitates nobody.
  const isNobodys = isSpecialUse(domain.name);
  const slipOf = isNobodys ? undefined : typoTarget(domain.name, datasets);
  const listed = listEvidence(domain, mail, datasets);
  const customerOf = relayOfMail(mail);
  return [
    slipOf === undefined ? listed : besideTypo(listed),
    mailServerEvidence(mail, { domain, datasets, counted: listed?.subject }),
    keywordEvidence(domain),
    // "gmaill.com" is not an imitation but a typing error.
    slipOf === undefined
      ? isNobodys
        ? undefined
        : lookalikeEvidence(domain)
      : evidence("typo_domain", { subject: slipOf }),
    freeRegistryEvidence(domain.name),
    // What lists say stays: a domain's owner chooses the mail host, and would excuse any name by pointing it at a relay.
    customerOf === undefined ? undefined : relayNote(customerOf),
  ].filter((piece) => piece !== undefined);
}

/** Uncurated lists hold many misspellings of providers, so they count for nothing beside `typo_domain`. */
const besideTypo = (piece: Evidence | undefined): Evidence | undefined =>
  piece?.signal === "blacklist_single" ? { ...piece, weight: 0 } : piece;

const relayNote = (service: string): Evidence => evidence("privacy_relay", { subject: service });

/** Honest people use such a registry too: together with a young domain it is not enough for a verdict. */
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

/** The operator's word on the domain beats the curated list in both directions. */
export function isKnownGood(
  name: string,
  { operator, knownGood }: Pick<Datasets, "operator" | "knownGood">,
): boolean {
  const word = operator.domain(name);
  return word === undefined ? knownGood.has(name) : word === "allow";
}

/** `strong`: a curated feed or the operator. `single`: uncurated feeds only. `weak`: weak feeds only, or a doubtful one alone. */
interface Standing {
  readonly strength: "strong" | "single" | "weak";
  readonly name: string;
  /** Bits of `Datasets.sources`; 0 when the operator says so. */
  readonly sources: number;
}

/** Undefined when no feed holds it or the operator allows it. */
export function standingOf(name: string, datasets: Datasets): Standing | undefined {
  const word = datasets.operator.domain(name);
  if (word === undefined) return listStanding(name, datasets);
  return word === "deny" ? { strength: "strong", name, sources: 0 } : undefined;
}

function listStanding(name: string, datasets: Datasets): Standing | undefined {
  const sources = sourcesIn(datasets.disposable, name, datasets);
  if (sources === 0) return undefined;
  return { strength: strengthOf(name, sources, datasets), name, sources };
}

function sourcesIn(table: NameTable, name: string, { sources, operator }: Datasets): number {
  let bits = table.sourcesOf(name);
  if (bits === 0) return 0;
  for (const [bit, { id }] of sources.entries()) if (operator.isFeedOff(id)) bits &= ~(1 << bit);
  return bits;
}

function strengthOf(name: string, bits: number, { sources }: Datasets): Standing["strength"] {
  let strength: Standing["strength"] = "weak";
  for (const [bit, { kind }] of sources.entries()) {
    if (((bits >> bit) & 1) === 0 || kind === "weak") continue;
    if (kind === "curated" && !ANONYMOUS_HOSTS.has(name)) return "strong";
    const isAlone = bits === 1 << bit;
    if (kind !== "doubtful" || !isAlone) strength = "single";
  }
  return strength;
}

/** The registrable domain `name` when three or more names of curated feeds hang under it, unless it is known good. */
function familyStanding(name: string, datasets: Datasets): Standing | undefined {
  const sources = sourcesIn(datasets.families, name, datasets);
  if (sources === 0 || datasets.operator.domain(name) === "allow") return undefined;
  return datasets.knownGood.has(name) ? undefined : { strength: "strong", name, sources };
}

/** Never a verdict by itself, so that a silent name server does not make one. */
const SINGLE_IN_DOUBT = 0.4;

/** The strongest on the domain or a name above it, down to the registrable domain: what is above belongs to another. */
export function listEvidence(
  domain: Domain,
  mail: MailHosts,
  datasets: Datasets,
): Evidence | undefined {
  const own = standingOf(domain.name, datasets) ?? twinStanding(domain, datasets);
  if (own?.strength === "strong") return listed("blacklist_exact", own);
  const { name, privateRegistrableDomain: top } = domain;
  const isBelow = top !== undefined && top !== name;
  const parents = isBelow ? parentStandings(name, top, datasets) : [];
  const strong = parents.find(({ strength }) => strength === "strong");
  const above = strong ?? (isBelow ? familyStanding(top, datasets) : undefined);
  if (above !== undefined) return listed("blacklist_parent", above);
  if (own === undefined && parents.length === 0) return undefined; // nearly every name
  return doubtful([own, ...parents], mail);
}

function doubtful(
  standings: readonly (Standing | undefined)[],
  mail: MailHosts,
): Evidence | undefined {
  const single = standings.find((standing) => standing?.strength === "single");
  const best = single ?? standings.find((standing) => standing !== undefined);
  if (best === undefined) return undefined;
  const piece = listed("blacklist_single", best);
  const isInDoubt = best.strength === "weak" || mail.kind === "unknown" || usesLargeProvider(mail);
  return isInDoubt ? { ...piece, weight: SINGLE_IN_DOUBT } : piece;
}

/** The curated evidence on the plain name that a name in other letters looks like: "yоpmail.com" with a Cyrillic "о". */
function twinStanding({ name }: Domain, datasets: Datasets): Standing | undefined {
  if (!name.includes("xn--") || datasets.operator.domain(name) === "allow") return undefined;
  const look = plainLook(name);
  const twin = look === name ? undefined : standingOf(look, datasets);
  return twin?.strength === "strong" ? twin : undefined;
}

const listed = (
  signal: "blacklist_exact" | "blacklist_parent" | "blacklist_single",
  { name, sources }: Standing,
): Evidence => evidence(signal, { subject: name, sources });

function parentStandings(name: string, top: string, datasets: Datasets): readonly Standing[] {
  const [, ...parents] = selfAndParents(name, top);
  return parents.flatMap((parent) => {
    const standing = standingOf(parent, datasets);
    const isDenied = standing?.sources === 0;
    return standing === undefined || (!isDenied && datasets.knownGood.has(parent)) ? [] : standing;
  });
}

/** What lists, rules and mail hosts say of a domain by itself: no address, no DNS evidence, no premium check. */
export function domainVerdict(domain: Domain, mail: MailHosts, datasets: Datasets): DomainVerdict {
  const pieces = domainEvidence(domain, mail, datasets);
  return weigh(isKnownGood(domain.name, datasets) ? excuse(pieces) : pieces);
}

export interface DomainVerdict {
  readonly disposable: boolean;
  readonly confidence: number;
  readonly evidence: readonly Evidence[];
}

const DISPOSABLE_AT = 50;

const RANK: ReadonlyMap<string, number> = new Map(
  Object.keys(SIGNALS).map((name, index) => [name, index]),
);

const rank = (signal: Signal): number => RANK.get(signal) ?? 0;

/** `confidence = round(100 * (1 - product(1 - weight)))`; pieces of evidence are taken as independent. */
export function weigh(pieces: readonly Evidence[]): DomainVerdict {
  if (pieces.length === 0) return NOTHING_FOUND;
  const ordered = distinct(pieces);
  // Rounded to 12 digits first, for 1 - 0.7 * 0.65 is 0.5449999... and means 0.545.
  const doubt = ordered.reduce((product, { weight }) => product * (1 - weight), 1);
  const confidence = Math.round(Number((100 * (1 - doubt)).toFixed(10)));
  return { disposable: confidence >= DISPOSABLE_AT, confidence, evidence: ordered };
}

const NOTHING_FOUND: DomainVerdict = { disposable: false, confidence: 0, evidence: [] };

function distinct(pieces: readonly Evidence[]): readonly Evidence[] {
  const sorted = [...pieces].sort((a, b) => b.weight - a.weight || rank(a.signal) - rank(b.signal));
  const seen = new Set<Signal>();
  const kept = sorted.filter(({ signal }) => !seen.has(signal) && seen.add(signal));
  return kept.slice(0, SIGNALS_MAX);
}

/** Drops what speaks against the domain, and the weight of what DNS says; what speaks against the very address stays. */
export function excuse(pieces: readonly Evidence[]): readonly Evidence[] {
  return pieces
    .filter(({ signal }) => SIGNALS[signal].about !== "domain")
    .map((piece) => (SIGNALS[piece.signal].about === "dns" ? { ...piece, weight: 0 } : piece));
}
