import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

/**
 * A census as a file for other installations: a line of JSON with the Ed25519 public key and the signature over
 * everything after it (RFC 8032), then the census.
 */
const FORMAT = "gatepost-census-1";

/** A private key in PKCS #8 and a public key in SPKI without their last 32 octets, the key itself (RFC 8410 section 7). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");
const KEY_BYTES = 32;

/** Derived from the installation's secret key, so no second key must be kept. */
function signingKey(secretKey: Uint8Array): KeyObject {
  const seed = hkdfSync("sha256", secretKey, "", "gatepost census signature", KEY_BYTES);
  const der = Buffer.concat([PKCS8_HEAD, Buffer.from(seed)]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

const fingerprintOf = (key: Uint8Array): string =>
  createHash("sha256").update(key).digest("hex").slice(0, 16);

/** The file, and the fingerprint that the other side must trust. */
export function signCensus(
  text: string,
  secretKey: Uint8Array,
): { readonly file: string; readonly fingerprint: string } {
  const privateKey = signingKey(secretKey);
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  const key = spki.subarray(SPKI_HEAD.length);
  const signature = sign(undefined, Buffer.from(text), privateKey).toString("base64url");
  const head = { format: FORMAT, key: key.toString("base64url"), signature };
  return { file: `${JSON.stringify(head)}\n${text}`, fingerprint: fingerprintOf(key) };
}

/** The census in a signed file and who signed it; undefined when the file is not one or its signature does not match. */
export function openSignedCensus(
  file: string,
): { readonly text: string; readonly fingerprint: string } | undefined {
  const end = file.indexOf("\n");
  const head = headOf(file.slice(0, Math.max(end, 0)));
  if (head === undefined) return undefined;
  const text = file.slice(end + 1);
  const key = Buffer.from(head.key, "base64url");
  if (key.length !== KEY_BYTES) return undefined;
  const der = Buffer.concat([SPKI_HEAD, key]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const signature = Buffer.from(head.signature, "base64url");
  const isGenuine = verify(undefined, Buffer.from(text), publicKey, signature);
  return isGenuine ? { text, fingerprint: fingerprintOf(key) } : undefined;
}

function headOf(line: string): { readonly key: string; readonly signature: string } | undefined {
  try {
    const head = JSON.parse(line) as Partial<Record<"format" | "key" | "signature", unknown>>;
    const { format, key, signature } = head;
    if (format !== FORMAT || typeof key !== "string" || typeof signature !== "string") {
      return undefined;
    }
    return { key, signature };
  } catch {
    return undefined;
  }
}
