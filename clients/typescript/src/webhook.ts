/**
 * Whether `signature`, the value of X-Service-Signature, signs the body as it came, before any JSON was read. Compares
 * in constant time; never throws.
 */
export async function verifyWebhook(
  body: Uint8Array | string,
  signature: string | null | undefined,
  secret: string,
): Promise<boolean> {
  if (secret === "" || typeof signature !== "string" || !/^[0-9a-f]{64}$/.test(signature)) {
    return false;
  }
  const encoder = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), hmac, false, ["verify"]);
  const signed = Uint8Array.from(signature.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const bytes = typeof body === "string" ? encoder.encode(body) : Uint8Array.from(body);
  return crypto.subtle.verify("HMAC", key, signed, bytes);
}
