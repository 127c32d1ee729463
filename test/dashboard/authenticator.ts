import { counterCode } from "../../src/accounts/sign-in/second-factor.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Octets of base32, as an authenticator app reads a secret. */
export function octetsOf(base32: string): Buffer {
  const bits = Array.from(base32, (sign) => ALPHABET.indexOf(sign).toString(2).padStart(5, "0"));
  return Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((octet) => parseInt(octet, 2)));
}

/** The code that an app shows, or will show so many steps later. */
export const codeNow = (base32: string, steps = 0): string =>
  counterCode(octetsOf(base32), Math.floor(Date.now() / 30_000) + steps);
