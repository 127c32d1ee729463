import { Buffer } from "node:buffer";
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

export interface OctetBox {
  seal(octets: Uint8Array, about: string): Uint8Array;
  open(sealed: Uint8Array, about: string): Uint8Array | undefined;
}

export interface SecretBox {
  seal(secret: string, about: string): string;
  /** Undefined when it was sealed with another key, about something else, or was changed. */
  open(sealed: string, about: string): string | undefined;
}

const SECRET_KEY_BYTES = 32;
export const KEY_FILE = "secret.key";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "v1:";

/** `setting`, else `secret.key` in `dataDir`, which is made when missing. Throws where neither holds 32 bytes in base64. */
export function loadSecretKey(setting: Uint8Array | undefined, dataDir: string): Uint8Array {
  if (setting !== undefined) return checked(setting, "GATEPOST_SECRET_KEY");
  const path = join(dataDir, KEY_FILE);
  try {
    return readKey(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  makeKey(path);
  return readKey(path);
}

function readKey(path: string): Uint8Array {
  return checked(Buffer.from(readFileSync(path, "utf8").trim(), "base64"), path);
}

function checked(key: Uint8Array, from: string): Uint8Array {
  if (key.length === SECRET_KEY_BYTES) return key;
  throw new Error(`${from} must hold ${String(SECRET_KEY_BYTES)} bytes in base64`);
}

/** Written whole and flushed under another name first: a link never shows half a key, nor replaces one. */
function makeKey(path: string): void {
  const draft = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, `${randomBytes(SECRET_KEY_BYTES).toString("base64")}\n`);
    fsyncSync(file);
    linkSync(draft, path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** A key for one purpose (HKDF, RFC 5869), so that no two uses share one: "webhook secrets", "cookies". */
export function deriveKey(master: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", master, "gatepost", purpose, SECRET_KEY_BYTES));
}

/** The same for the same key, and tells nothing of it: for finding out that two processes have different ones. */
export const keyFingerprint = (master: Uint8Array): string =>
  Buffer.from(deriveKey(master, "fingerprint")).toString("base64url");

export function createOctetBox(master: Uint8Array, purpose: string): OctetBox {
  const key = deriveKey(master, purpose);
  return {
    seal(octets, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(about));
      return Buffer.concat([nonce, cipher.update(octets), cipher.final(), cipher.getAuthTag()]);
    },
    open(bytes, about) {
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const end = bytes.length - TAG_BYTES;
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(end));
      try {
        const octets = decipher.update(bytes.subarray(NONCE_BYTES, end));
        return Buffer.concat([octets, decipher.final()]);
      } catch {
        return undefined; // the tag does not match: the only way `final` fails here
      }
    },
  };
}

export function createSecretBox(master: Uint8Array): SecretBox {
  const box = createOctetBox(master, "webhook secrets");
  return {
    seal: (secret, about) =>
      VERSION + Buffer.from(box.seal(Buffer.from(secret), about)).toString("base64"),
    open(sealed, about) {
      if (!sealed.startsWith(VERSION)) return undefined;
      const octets = box.open(Buffer.from(sealed.slice(VERSION.length), "base64"), about);
      return octets && Buffer.from(octets).toString("utf8");
    },
  };
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** A compact JWS by HMAC-SHA-256 (RFC 7515); `typ` is of its head. */
export function signedHs256(typ: string, claims: object, secret: string): string {
  const input = `${encoded({ alg: "HS256", typ })}.${encoded(claims)}`;
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}

const HEX_DIGITS = 32;

export function createAddressHash(master: Uint8Array): AddressHash {
  const key = deriveKey(master, "address hashes");
  return (canonical) =>
    createHmac("sha256", key).update(canonical).digest("hex").slice(0, HEX_DIGITS);
}

/** 32 hexadecimal digits: HMAC-SHA256, cut to 128 bits. Without the secret key addresses cannot be guessed. */
export type AddressHash = (canonical: string) => string;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base32 of RFC 4648 without padding; bits that fill no character are left out. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(value >> (bits - 5)) & 31] ?? "";
  }
  return text;
}

/** Compares in constant time: digests have the same length for any input. */
export function sameText(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
