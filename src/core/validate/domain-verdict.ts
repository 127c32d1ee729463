import type { Datasets } from "../evidence/datasets.ts";
import { domainEvidence } from "../evidence/domain-evidence.ts";
import type { Domain } from "../name/domain.ts";
import { isKnownGood } from "../evidence/known-good.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import { weigh, excuse, type Verdict } from "../evidence/verdict.ts";

/** What lists, rules and mail hosts say of a domain by itself: no address, no DNS evidence, no premium check. */
export function domainVerdict(domain: Domain, mail: MailHosts, datasets: Datasets): Verdict {
  const pieces = domainEvidence(domain, mail, datasets);
  return weigh(isKnownGood(domain.name, datasets) ? excuse(pieces) : pieces);
}
