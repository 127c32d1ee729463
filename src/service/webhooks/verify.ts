import { timingSafeEqual } from "node:crypto";
import { sign } from "./sign.ts";

/**
 * Whether `header`, the value of X-Service-Signature, signs `body` with `secret`. `body` is the request's
 * body exactly as it came, before any JSON was read. False for an absent or empty secret, for a missing header and
 * for anything but 64 lower-case hexadecimal digits. Takes the same time wherever two signatures differ.
 */
export function verifySignature(
  body: Uint8Array | string,
  header: unknown,
  secret: string | undefined,
): boolean {
  if (
    secret === undefined ||
    secret === "" ||
    typeof header !== "string" ||
    !/^[0-9a-f]{64}$/.test(header)
  )
    return false;
  const encoder = new TextEncoder();
  const octets = typeof body === "string" ? encoder.encode(body) : body;
  return timingSafeEqual(encoder.encode(sign(secret, octets)), encoder.encode(header));
}
