import type { Address } from "./address.ts";
import type { MailHosts } from "./mail-hosts.ts";
import type { Evidence } from "./signals.ts";

export interface Alias {
  readonly alias: boolean;
  /** `plus_alias` for a sub-address; a relay's `privacy_relay` is domain evidence. */
  readonly evidence: readonly Evidence[];
}

/** Whether the address is a sub-address (RFC 5233) by its provider's rules, or a relay's alias. */
export function aliasOf(_address: Address, _mail: MailHosts): Alias {
  return { alias: false, evidence: [] };
}

/** One text per mailbox: for de-duplication and the operator's lists, never to send mail to. */
export function canonicalAddress(address: Address): string {
  return `${address.localPart.toLowerCase()}@${address.domain.name}`;
}
