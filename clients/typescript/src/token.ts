import { isFields } from "./results.ts";

/** What a good token says: docs/tokens.md. */
export interface Claims {
  readonly iss: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly sub: string;
  readonly dom: string;
  readonly dec: string;
  readonly rsn: string;
  readonly pol: string;
  readonly form?: string;
  readonly cpl: boolean;
}

/** Why a token is not good. `keys_unavailable`: the public keys could not be fetched. */
export type TokenFault =
  | "malformed"
  | "unknown_key"
  | "signature"
  | "issuer"
  | "expired"
  | "address"
  | "replayed"
  | "keys_unavailable";

export type TokenResult =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: TokenFault };

/** Remembers ids of tokens until they end. With several processes, keep them where all of them look. */
export interface UsedTokens {
  /** True the first time; `exp` in seconds, when the id may be forgotten. */
  firstUse(jti: string, exp: number): boolean | Promise<boolean>;
}

export interface PublicKey {
  readonly kid?: string;
  readonly kty?: string;
  readonly crv?: string;
  readonly x?: string;
}

export interface TokenQuestion {
  /** Of the address that the form sent. */
  readonly email: string;
  /** `keys` of /.well-known/jwks.json. */
  readonly keys: readonly PublicKey[];
  /** The service's public URL. */
  readonly issuer: string;
  /** Seconds. */
  readonly now: number;
  readonly used: UsedTokens;
}

class Bad extends Error {
  readonly reason: TokenFault;
  constructor(reason: TokenFault) {
    super(reason);
    this.reason = reason;
  }
}

const LONGEST = 4_096;

/** Checks signature, issuer, end, address and that the token was not used before. Rejects only if `used` does. */
export async function verifyToken(token: string, question: TokenQuestion): Promise<TokenResult> {
  let claims: Claims;
  try {
    claims = await readToken(token, question);
  } catch (error) {
    return { ok: false, reason: error instanceof Bad ? error.reason : "malformed" };
  }
  const isNew = await question.used.firstUse(claims.jti, claims.exp);
  return isNew ? { ok: true, claims } : { ok: false, reason: "replayed" };
}

async function readToken(token: string, question: TokenQuestion): Promise<Claims> {
  const parts = token.split(".");
  const [head = "", body = "", signature = ""] = parts;
  if (token.length > LONGEST || parts.length !== 3) throw new Bad("malformed");
  const key = keyFor(jsonIn(head), question.keys);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await isSigned(signed, decode(signature), key))) throw new Bad("signature");
  const claims = jsonIn(body);
  await checkClaims(claims, question);
  return claims as unknown as Claims;
}

function jsonIn(part: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(decode(part)));
  if (!isFields(value)) throw new Bad("malformed");
  return value;
}

function keyFor(
  { alg, typ, kid, crit }: Readonly<Record<string, unknown>>,
  keys: readonly PublicKey[],
): PublicKey {
  if (alg !== "EdDSA" || typ !== "gatepost+jwt" || crit !== undefined || typeof kid !== "string") {
    throw new Bad("malformed");
  }
  const key = keys.find((each) => each.kid === kid && each.kty === "OKP" && each.crv === "Ed25519");
  if (key === undefined) throw new Bad("unknown_key");
  return key;
}

async function isSigned(
  data: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  key: PublicKey,
): Promise<boolean> {
  const { x = "" } = key;
  const jwk = { kty: "OKP", crv: "Ed25519", x };
  try {
    const imported = await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", imported, signature, data);
  } catch {
    return false; // a key that is none
  }
}

/** Without Unicode white space, U+FEFF and U+200B at both ends, as the service trims an address. */
export const trimEmail = (text: string): string =>
  text.replace(/^[\s\u0085\u200b]+|(?<![\s\u0085\u200b])[\s\u0085\u200b]+$/g, "");

async function checkClaims(
  { iss, exp, sub, jti }: Readonly<Record<string, unknown>>,
  { email, issuer, now }: TokenQuestion,
): Promise<void> {
  if (!Number.isInteger(exp) || typeof jti !== "string" || !/^[0-9a-f]{32}$/.test(jti)) {
    throw new Bad("malformed");
  }
  if (iss !== issuer) throw new Bad("issuer");
  if (Number(exp) <= now) throw new Bad("expired");
  const address = new TextEncoder().encode(trimEmail(email));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", address));
  if (sub !== encode(hash)) throw new Bad("address");
}

/** The id of the key that a token names. */
export function kidOf(token: string): string | undefined {
  try {
    const { kid } = jsonIn(token.slice(0, LONGEST).split(".", 1)[0] ?? "");
    return typeof kid === "string" ? kid : undefined;
  } catch {
    return undefined;
  }
}

const encode = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** base64url as it is written: one spelling for each value. */
function decode(part: string): Uint8Array<ArrayBuffer> {
  const text = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  if (encode(bytes) !== part) throw new Bad("malformed");
  return bytes;
}

const REMEMBERED_MAX = 100_000;

/** In this process alone. When it is full of ids that have not ended, further tokens count as used. */
export function rememberTokens(nowSeconds = (): number => Date.now() / 1_000): UsedTokens {
  const until = new Map<string, number>();
  return {
    firstUse(jti, exp) {
      if (until.has(jti)) return false;
      if (until.size >= REMEMBERED_MAX) {
        const now = nowSeconds();
        for (const [each, end] of until) if (end <= now) until.delete(each);
      }
      if (until.size >= REMEMBERED_MAX) return false;
      until.set(jti, exp);
      return true;
    },
  };
}
