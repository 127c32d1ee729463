import { isAtOrUnder } from "../name/domain.ts";
import { providerOfHost } from "./inbox-provider.ts";
import type { MailHosts } from "./mail-hosts.ts";
import {
  LARGE_PROVIDERS,
  COMMON_CARRIERS,
  LARGE_MAILBOX_PROVIDERS,
  SHARED_MAIL_SUFFIXES,
} from "../tables/data.ts";

/**
 * Whether a large mailbox provider, not a gateway or forwarder, is where the domain's mail goes first: any
 * domain can name one behind its own host.
 */
export function usesLargeProvider(mail: MailHosts): boolean {
  const preferred = mail.kind === "hosts" ? (mail.hosts[0] ?? "") : "";
  return LARGE_MAILBOX_PROVIDERS.has(providerOfHost(preferred)?.provider ?? "");
}

/** Whether a host is at one of the few carriers that most of the world's mail goes to. */
export function isCommonCarrier(host: string): boolean {
  for (const suffix of COMMON_CARRIERS) if (isAtOrUnder(host, suffix)) return true;
  return false;
}

/** Whether a host carries anybody's mail, so that no list's word on it says anything of one customer. */
export function isSharedMailHost(host: string): boolean {
  if (providerOfHost(host) !== undefined) return true;
  for (let start = 0, dot = 0; dot >= 0; start = dot + 1) {
    const suffix = host.slice(start);
    if (SHARED_MAIL_SUFFIXES.has(suffix) || LARGE_PROVIDERS.has(suffix)) return true;
    dot = host.indexOf(".", start);
  }
  return false;
}
