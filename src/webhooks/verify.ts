import { createHmac, timingSafeEqual } from "node:crypto";

/** Lower-case hex HMAC-SHA256 of `body`: 64 characters. `body` is the exact octets that are sent. */
export function sign(secret: string, body: Uint8Array): string {
  // An empty key is legal to HMAC and would make every forger right, so it is refused here.
  if (secret === "") throw new Error("sign: empty secret");
  return createHmac("sha256", secret).update(body).digest("hex");
}

export type RawBody = string | ArrayBuffer | ArrayBufferView;

/**
 * Whether `header`, the value of X-Service-Signature, signs `body` with `secret`. False without a body, a secret or a header, and
 * for any header but 64 lower-case hexadecimal digits. Throws a TypeError for a body that was parsed already: its octets are gone.
 * Takes the same time wherever two signatures differ.
 */
export function verifySignature(
  body: RawBody | null | undefined,
  header: unknown,
  secret: string | null | undefined,
): boolean {
  const octets = octetsOf(body);
  if (octets === undefined || typeof secret !== "string" || secret === "") return false;
  if (typeof header !== "string" || !/^[0-9a-f]{64}$/.test(header)) return false;
  const encoder = new TextEncoder();
  return timingSafeEqual(encoder.encode(sign(secret, octets)), encoder.encode(header));
}

function octetsOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  const kind = Object.prototype.toString.call(body);
  if (/^\[object (?:Shared)?ArrayBuffer\]$/.test(kind)) return new Uint8Array(body as ArrayBuffer);
  throw new TypeError(
    "body: give the raw body as text or octets, not what a parser made of it: docs/webhooks.md.",
  );
}
