import type { Datasets, NameTable } from "./datasets.ts";
import { plainLook } from "../name/homograph.ts";
import { type Domain, selfAndParents } from "../name/domain.ts";
import { usesLargeProvider } from "../mail/mail-carriers.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import { type Evidence, evidence } from "./signals.ts";
import { ANONYMOUS_HOSTS } from "../tables/data.ts";

/** The operator's word on the domain beats the curated list in both directions. */
export function isKnownGood(
  name: string,
  { operator, knownGood }: Pick<Datasets, "operator" | "knownGood">,
): boolean {
  const word = operator.domain(name);
  return word === undefined ? knownGood.has(name) : word === "allow";
}

/**
 * What the feeds say of one name. `strong`: a curated feed or the operator, which is certain. `single`: uncurated feeds
 * only. `weak`: weak feeds only, or a doubtful one alone.
 */
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
  return word === "deny" ? denied(name) : undefined;
}

const denied = (name: string): Standing => ({ strength: "strong", name, sources: 0 });

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
export function familyStanding(name: string, datasets: Datasets): Standing | undefined {
  const sources = sourcesIn(datasets.families, name, datasets);
  if (sources === 0 || datasets.operator.domain(name) === "allow") return undefined;
  return unlessGood({ strength: "strong", name, sources }, datasets);
}

function lentStanding(name: string, datasets: Datasets): Standing | undefined {
  return unlessGood(standingOf(name, datasets), datasets);
}

/** The operator denies a host by an entry on the very name: the neighbours of names below "*.suffix" may use it too. */
export function hostStanding(name: string, datasets: Datasets): Standing | undefined {
  const { operator } = datasets;
  if (operator.named(name) === "deny") return denied(name);
  if (operator.domain(name) === "allow") return undefined;
  return unlessGood(listStanding(name, datasets), datasets);
}

function unlessGood(standing: Standing | undefined, { knownGood }: Datasets): Standing | undefined {
  if (standing === undefined || standing.sources === 0) return standing;
  return knownGood.has(standing.name) ? undefined : standing;
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
  const parents = parentStandings(domain, datasets);
  const strong = parents.find(({ strength }) => strength === "strong");
  if (strong !== undefined) return listed("blacklist_parent", strong);
  const family = familyOf(domain, datasets);
  if (family !== undefined) return listed("blacklist_parent", family);
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

/** The family that a name below a registrable domain belongs to; the registrable domain itself belongs to none. */
function familyOf(
  { name, privateRegistrableDomain }: Domain,
  datasets: Datasets,
): Standing | undefined {
  if (privateRegistrableDomain === undefined || privateRegistrableDomain === name) return undefined;
  return familyStanding(privateRegistrableDomain, datasets);
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

function parentStandings(domain: Domain, datasets: Datasets): readonly Standing[] {
  const { name, privateRegistrableDomain } = domain;
  if (privateRegistrableDomain === undefined || privateRegistrableDomain === name) return [];
  const [, ...parents] = selfAndParents(name, privateRegistrableDomain);
  return parents.flatMap((parent) => lentStanding(parent, datasets) ?? []);
}
