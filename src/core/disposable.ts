import type { Datasets } from "./datasets.ts";
import type { Domain } from "./domain.ts";
import type { MailHosts } from "./mail-hosts.ts";
import type { Evidence } from "./signals.ts";

/**
 * Everything about the domain that speaks for "disposable", and notes on it (`privacy_relay`,
 * `typo_domain`). The caller drops what a known-good domain is excused of.
 */
export function domainEvidence(_domain: Domain, _mail: MailHosts, _datasets: Datasets): Evidence[] {
  return [];
}
