import type { Datasets } from "./datasets.ts";
import { plainLook } from "../name/homograph.ts";
import { type Domain, selfAndParents } from "../name/domain.ts";
import { usesLargeProvider } from "../mail/mail-carriers.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import { type Evidence, evidence } from "./signals.ts";
import { familyStanding, lentStanding, type Standing, standingOf } from "./standing.ts";

/**
 * Weak feeds alone, or uncurated feeds about a name whose mail a large provider carries or whose mail hosts are unknown:
 * never a verdict by itself, so that a silent name server does not make one.
 */
const SINGLE_IN_DOUBT = 0.4;

/**
 * The strongest that lists and the operator say of the domain or of a name above it, down to and including
 * the registrable domain under the whole public suffix list: names above belong to another owner.
 */
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

/** Of standings without a strong one: an uncurated feed's before a weak one's. */
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
