import { createHmac } from "node:crypto";
import type { AddressHash } from "../../ports/address-hash.ts";
import { deriveKey } from "./secrets.ts";

const HEX_DIGITS = 32;

/** HMAC-SHA256, cut to 128 bits, under a key of its own derived from the service's master key. */
export function createAddressHash(master: Uint8Array): AddressHash {
  const key = deriveKey(master, "address hashes");
  return (canonical) =>
    createHmac("sha256", key).update(canonical).digest("hex").slice(0, HEX_DIGITS);
}
