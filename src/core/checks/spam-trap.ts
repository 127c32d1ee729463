import { canonicalAddress } from "../alias.ts";
import type { Datasets } from "../datasets.ts";
import { HONEYPOT_LOCAL_PARTS } from "../tables/honeypots.ts";
import type { SpamTrap, Subject } from "./check.ts";

const NO_TRAP: SpamTrap = { is_trap: false, type: null, reason: null };

/**
 * What is known of this entry as a spam trap: the operator's file first, then words that only traps are called.
 * "No trap" proves nothing, for traps are secret. Never throws, asks nobody.
 */
export function judgeSpamTrap(subject: Subject, datasets: Datasets): SpamTrap {
  return fromOperator(subject, datasets) ?? honeypot(subject) ?? NO_TRAP;
}

function fromOperator({ address, domain }: Subject, { operator }: Datasets): SpamTrap | undefined {
  const ofAddress = address === undefined ? undefined : operator.trap(canonicalAddress(address));
  if (ofAddress !== undefined) {
    return trap(ofAddress, `The operator's list names this address as ${ofAddress}.`);
  }
  const ofDomain = operator.trap(domain.name);
  if (ofDomain === undefined) return undefined;
  return trap(ofDomain, `The operator's list names this domain as ${ofDomain}.`);
}

/** The local part alone counts: with a detail behind "+" it is still that mailbox (RFC 5233). */
function honeypot({ address }: Subject): SpamTrap | undefined {
  if (address === undefined) return undefined;
  const [user = ""] = address.localPart.toLowerCase().split("+", 1);
  if (!HONEYPOT_LOCAL_PARTS.has(user)) return undefined;
  return trap("honeypot", `Mailboxes named "${user}" are set up to catch senders of spam.`);
}

function trap(type: NonNullable<SpamTrap["type"]>, reason: string): SpamTrap {
  return { is_trap: true, type, reason };
}
