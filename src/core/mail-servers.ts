import type { Datasets } from "./datasets.ts";
import { registrableOf } from "./domain.ts";
import type { MailHosts } from "./mail-hosts.ts";
import { isSharedMailHost } from "./mail-carriers.ts";
import { type Evidence, evidence } from "./signals.ts";
import { lentStanding } from "./standing.ts";
import { DEDICATED_MAIL_HOSTS } from "./tables/mail-servers.ts";

/** `blacklist_mx` for the first host that is dedicated to disposable domains, else `mx_shared_disposable`. */
export function mailServerEvidence(mail: MailHosts, datasets: Datasets): Evidence | undefined {
  if (mail.kind !== "hosts") return undefined;
  let shared: Evidence | undefined;
  for (const host of mail.hosts) {
    const found = hostEvidence(host, datasets);
    if (found?.signal === "blacklist_mx") return found;
    shared ??= found;
  }
  return shared;
}

function hostEvidence(host: string, datasets: Datasets): Evidence | undefined {
  const word = datasets.operator.mailHost(host);
  if (word === "allow") return undefined;
  if (word === "deny") return evidence("blacklist_mx", { subject: host });
  const found = reputation(host, datasets);
  // Asked last, for hosts with a reputation are few.
  return found === undefined || isSharedMailHost(host) ? undefined : found;
}

function reputation(host: string, datasets: Datasets): Evidence | undefined {
  const registrable = registrableOf(host);
  if (DEDICATED_MAIL_HOSTS.has(host) || DEDICATED_MAIL_HOSTS.has(registrable ?? host)) {
    return evidence("blacklist_mx", { subject: host });
  }
  const learned = datasets.mailServers.kindOf(host);
  if (learned === "dedicated") return evidence("blacklist_mx", { subject: host });
  const listed = strongName(host, datasets) ?? strongName(registrable ?? host, datasets);
  if (listed !== undefined) return evidence("blacklist_mx", { subject: host, sources: listed });
  return learned === "shared" ? evidence("mx_shared_disposable", { subject: host }) : undefined;
}

/** The lists that are certain of `name`; 0 for the operator; undefined when nobody is. */
function strongName(name: string, datasets: Datasets): number | undefined {
  const standing = lentStanding(name, datasets);
  return standing?.strength === "strong" ? standing.sources : undefined;
}
