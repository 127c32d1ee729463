import { type Domain, isAtOrUnder, registrableOf, selfAndParents } from "../name/domain.ts";
import type { MailHosts } from "./mail-hosts.ts";
import { RELAYS } from "../tables/data.ts";

const BY_DOMAIN = new Map(
  RELAYS.flatMap((row) => row.domains.map((domain) => [domain, row] as const)),
);
const MAIL_HOSTS = RELAYS.flatMap((row) =>
  row.mailHosts.map((suffix) => ({ suffix, service: row.service })),
);

/** Most names end at this one look. */
const REGISTRABLE: ReadonlySet<string> = new Set(
  [...BY_DOMAIN.keys()].map((domain) => registrableOf(domain) ?? domain),
);

/** The forwarding service whose own domain this is or lies under; undefined for any other domain. */
export function relayOfDomain({ name, registrableDomain }: Domain): string | undefined {
  if (registrableDomain === undefined || !REGISTRABLE.has(registrableDomain)) return undefined;
  for (const above of selfAndParents(name, registrableDomain)) {
    const row = BY_DOMAIN.get(above);
    if (row !== undefined && (row.subdomains || above === name)) return row.service;
  }
  return undefined;
}

/** The forwarding service that takes the mail of a customer's own domain, by the preferred host; undefined for none. */
export function relayOfMail(mail: MailHosts): string | undefined {
  const host = mail.kind === "hosts" ? (mail.hosts[0] ?? "") : "";
  for (const { suffix, service } of MAIL_HOSTS) if (isAtOrUnder(host, suffix)) return service;
  return undefined;
}
