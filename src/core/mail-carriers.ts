import { providerOfHost } from "./inbox-provider.ts";
import type { MailHosts } from "./mail-hosts.ts";
import { LARGE_PROVIDERS } from "./tables/large-providers.ts";
import { LARGE_MAILBOX_PROVIDERS, SHARED_MAIL_SUFFIXES } from "./tables/mail-servers.ts";

/** Whether a large mailbox provider, not a gateway or forwarder, takes the domain's mail. */
export function usesLargeProvider(mail: MailHosts): boolean {
  if (mail.kind !== "hosts" || mail.implicit) return false;
  return mail.hosts.some((host) =>
    LARGE_MAILBOX_PROVIDERS.has(providerOfHost(host)?.provider ?? ""),
  );
}

/** Whether a host carries anybody's mail, so that no list's word on it says anything of one customer. */
export function isSharedMailHost(host: string): boolean {
  if (providerOfHost(host) !== undefined) return true;
  for (let dot = -1; ;) {
    const suffix = host.slice(dot + 1);
    if (SHARED_MAIL_SUFFIXES.has(suffix) || LARGE_PROVIDERS.has(suffix)) return true;
    dot = host.indexOf(".", dot + 1);
    if (dot < 0) return false;
  }
}
