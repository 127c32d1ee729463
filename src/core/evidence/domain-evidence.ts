import { FREE_REGISTRIES, WEAK_REGISTRIES } from "../tables/data.ts";
import { listEvidence } from "./list-evidence.ts";
import type { Datasets } from "./datasets.ts";
import type { Domain } from "../name/domain.ts";
import { keywordEvidence } from "./names/keywords.ts";
import { lookalikeEvidence } from "./names/lookalike.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import { mailServerEvidence } from "./mail-servers/mail-server-evidence.ts";
import { relayOfDomain, relayOfMail } from "../mail/relays.ts";
import { type Evidence, evidence } from "./signals.ts";
import { typoTarget } from "./names/typo.ts";

/**
 * Everything about the domain that speaks for "disposable", and notes on it (`privacy_relay`,
 * `typo_domain`). The caller drops what a known-good domain is excused of.
 */
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

/**
 * A customer's own domain at a relay. What lists say of it stays: the owner of a domain chooses its mail
 * host, and would excuse any name by pointing it there.
 */
function customerNote(mail: MailHosts): Evidence | undefined {
  const service = relayOfMail(mail);
  return service === undefined ? undefined : relayNote(service);
}

/** Below a registry that honest people use too: together with a young domain it is not enough for a verdict. */
const AT_WEAK_REGISTRY = 0.25;

/** `free_registry_suffix` when `name` lies below a registry of free names; the registry itself does not. */
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
