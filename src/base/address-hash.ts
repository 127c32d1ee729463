import { createHmac } from "node:crypto";
import { deriveKey } from "./secrets.ts";

const HEX_DIGITS = 32;

export function createAddressHash(master: Uint8Array): AddressHash {
  const key = deriveKey(master, "address hashes");
  return (canonical) =>
    createHmac("sha256", key).update(canonical).digest("hex").slice(0, HEX_DIGITS);
}

/** 32 hexadecimal digits: HMAC-SHA256, cut to 128 bits. Without the secret key addresses cannot be guessed. */
export type AddressHash = (canonical: string) => string;
