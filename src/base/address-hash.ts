import { createHmac } from "node:crypto";
import { deriveKey } from "./secrets.ts";

const HEX_DIGITS = 32;

/** HMAC-SHA256, cut to 128 bits, under a key derived from the service's master key. */
export function createAddressHash(master: Uint8Array): AddressHash {
  const key = deriveKey(master, "address hashes");
  return (canonical) =>
    createHmac("sha256", key).update(canonical).digest("hex").slice(0, HEX_DIGITS);
}

/**
 * The keyed hash of a canonical address: 32 lower-case hexadecimal digits, always the same under one secret
 * key. Without the key addresses cannot be guessed.
 */
export type AddressHash = (canonical: string) => string;
