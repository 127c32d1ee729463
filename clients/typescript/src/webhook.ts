/** A request's body as it came, before any JSON was read. */
export type RawBody = string | ArrayBuffer | ArrayBufferView;

/**
 * Whether `signature`, the value of X-Service-Signature, signs the body. Compares in constant time. False without a body, a
 * signature or a secret; rejects with a TypeError for a body that was parsed already: its octets are gone.
 */
export async function verifyWebhook(
  body: RawBody | null | undefined,
  signature: unknown,
  secret: string | null | undefined,
): Promise<boolean> {
  const bytes = octetsOf(body);
  if (bytes === undefined || typeof secret !== "string" || secret === "") return false;
  if (typeof signature !== "string" || !/^[0-9a-f]{64}$/.test(signature)) return false;
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const raw = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", raw, hmac, false, ["verify"]);
  const signed = Uint8Array.from(signature.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  return crypto.subtle.verify("HMAC", key, signed, bytes);
}

/** A copy, because a view may be one of shared memory, which is not verified. */
function octetsOf(body: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  }
  const kind = Object.prototype.toString.call(body);
  if (kind === "[object ArrayBuffer]" || kind === "[object SharedArrayBuffer]") {
    return new Uint8Array(new Uint8Array(body as ArrayBuffer));
  }
  throw new TypeError(
    "body: give the raw body as text or octets, not what a parser made of it: docs/webhooks.md.",
  );
}
