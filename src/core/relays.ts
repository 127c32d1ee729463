import { isAtOrUnder } from "./domain.ts";
import type { MailHosts } from "./mail-hosts.ts";
import { RELAYS } from "./tables/relays.ts";

/** Domain of a relay -> its service and whether names below it are aliases too. */
const BY_DOMAIN = new Map(
  RELAYS.flatMap((row) => row.domains.map((domain) => [domain, row] as const)),
);
const MAIL_HOSTS = RELAYS.flatMap((row) =>
  row.mailHosts.map((suffix) => ({ suffix, service: row.service })),
);

/** The forwarding service whose own domain `name` is or lies under; undefined for any other name. */
export function relayOfDomain(name: string): string | undefined {
  const exact = BY_DOMAIN.get(name);
  if (exact !== undefined) return exact.service;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const row = BY_DOMAIN.get(name.slice(dot + 1));
    if (row?.subdomains === true) return row.service;
  }
  return undefined;
}

/** The forwarding service that takes the mail of a customer's own domain; undefined for none. */
export function relayOfMail(mail: MailHosts): string | undefined {
  if (mail.kind !== "hosts") return undefined;
  return MAIL_HOSTS.find(({ suffix }) => mail.hosts.some((host) => isAtOrUnder(host, suffix)))
    ?.service;
}
