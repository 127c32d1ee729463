import type { Datasets } from "./datasets.ts";
import { domainEvidence } from "./disposable.ts";
import type { Domain } from "./domain.ts";
import { isKnownGood } from "./known-good.ts";
import type { MailHosts } from "./mail-hosts.ts";
import { decide, excuse, type Verdict } from "./verdict.ts";

/** What lists, rules and mail hosts say of a domain by itself: no address, no DNS evidence, no premium check. */
export function domainVerdict(domain: Domain, mail: MailHosts, datasets: Datasets): Verdict {
  const pieces = domainEvidence(domain, mail, datasets);
  return decide(isKnownGood(domain.name, datasets) ? excuse(pieces) : pieces);
}
