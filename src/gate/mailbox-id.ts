import { createHmac } from "node:crypto";
import type { Address } from "../core/address/address.ts";
import { canonicalAddress } from "../core/evidence/alias.ts";

/** The id that all spellings of one mailbox share within an account; two accounts never share one. */
export type MailboxId = (accountId: string, address: Address) => string;

/** RFC 4648 section 6. */
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ID_LENGTH = 26;

/** Accounts whose key is remembered; making one anew costs one HMAC. */
const KEYS_MAX = 10_000;

/** `key` is for this alone. */
export function createMailboxId(key: Uint8Array): MailboxId {
  const keys = new Map<string, Uint8Array>();
  const keyOf = (accountId: string): Uint8Array => {
    const known = keys.get(accountId);
    if (known !== undefined) return known;
    const made = createHmac("sha256", key).update(accountId).digest();
    if (keys.size >= KEYS_MAX) keys.clear();
    keys.set(accountId, made);
    return made;
  };
  return (accountId, address) => {
    const canonical = canonicalAddress(address);
    return `m_${base32(createHmac("sha256", keyOf(accountId)).update(canonical).digest())}`;
  };
}

/** The first 130 bits. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5 && text.length < ID_LENGTH) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31] ?? "";
    }
    if (text.length === ID_LENGTH) break;
  }
  return text;
}
