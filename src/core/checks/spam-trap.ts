import { subAddress } from "../address/address.ts";
import { canonicalAddress } from "../evidence/alias.ts";
import type { Datasets } from "../evidence/datasets.ts";
import { HONEYPOT_LOCAL_PARTS } from "../tables/honeypots.ts";
import { typoTarget } from "../evidence/typo.ts";
import type { SpamTrap, Subject } from "./check.ts";

const NO_TRAP: SpamTrap = { is_trap: false, type: null, reason: null };

/**
 * What is known of this entry as a spam trap: the operator's trap file first, then, unless the operator allows
 * the entry, words that only traps are called and a misspelt large provider. "No trap" proves nothing, for traps
 * are secret. Never throws, asks nobody.
 */
export function checkSpamTrap(subject: Subject, datasets: Datasets): SpamTrap {
  const listed = fromOperator(subject, datasets);
  if (listed !== undefined) return listed;
  if (isAllowed(subject, datasets)) return NO_TRAP;
  return honeypot(subject) ?? typo(subject, datasets) ?? NO_TRAP;
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

function isAllowed({ address, domain }: Subject, { operator }: Datasets): boolean {
  if (operator.domain(domain.name) === "allow") return true;
  return address !== undefined && operator.address(canonicalAddress(address)) === "allow";
}

/** The local part alone counts: with a detail behind "+" it is still that mailbox (RFC 5233). */
function honeypot({ address }: Subject): SpamTrap | undefined {
  if (address === undefined) return undefined;
  const { user } = subAddress(address.localPart.toLowerCase());
  if (!HONEYPOT_LOCAL_PARTS.has(user)) return undefined;
  return trap("honeypot", `Mailboxes named "${user}" are set up to catch senders of spam.`);
}

function typo({ domain }: Subject, datasets: Datasets): SpamTrap | undefined {
  const meant = typoTarget(domain.name, datasets);
  if (meant === undefined) return undefined;
  return trap("typo", `The domain looks like a misspelling of ${meant}.`);
}

function trap(type: NonNullable<SpamTrap["type"]>, reason: string): SpamTrap {
  return { is_trap: true, type, reason };
}
