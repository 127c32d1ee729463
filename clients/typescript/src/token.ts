import { isFields } from "./results.ts";

/** What a good token says: docs/tokens.md. */
export interface Claims {
  readonly iss: string;
  /** Id of the account that the token was made for. */
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly sub: string;
  readonly dec: string;
  readonly rsn: string;
  readonly pol: string;
  /** Id of the API key that asked. */
  readonly key: string;
  readonly form?: string;
  readonly cpl: boolean;
}

/** Why a token is not good. */
export type TokenFault =
  "malformed" | "signature" | "expired" | "account" | "address" | "form" | "replayed";

/** `complete` false: DNS did not answer in time; ask the service again if that matters. */
export type TokenResult =
  | { readonly ok: true; readonly complete: boolean; readonly claims: Claims }
  | { readonly ok: false; readonly reason: TokenFault };

/** Remembers ids of tokens until they end. With several processes, keep them where all of them look. */
export interface UsedTokens {
  /** True the first time; `exp` in seconds, when the id may be forgotten. */
  firstUse(jti: string, exp: number): boolean | Promise<boolean>;
}

export interface TokenQuestion {
  /** Of the address that the form sent. */
  readonly email: string;
  /** Token secrets of the account; any of them may have signed. */
  readonly secrets: readonly string[];
  /** Id of the account, if it is known. */
  readonly account?: string | undefined;
  /** The label that the token must have, if one is expected. */
  readonly form?: string | undefined;
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

const SECRET = /^gp_sign_[A-Za-z0-9_-]{43}$/;

/** Throws a TypeError: with an empty secret anybody could sign. */
export function checkSecrets(secrets: readonly string[]): void {
  if (secrets.every((secret) => typeof secret === "string" && SECRET.test(secret))) return;
  throw new TypeError("tokenSecret: a token secret is gp_sign_ and 43 characters.");
}

/** Checks signature, end, account, address, form and that the token was not used before. Rejects if `used` does. */
export async function verifyToken(token: string, question: TokenQuestion): Promise<TokenResult> {
  checkSecrets(question.secrets);
  let claims: Claims;
  try {
    claims = await readToken(token, question);
  } catch (error) {
    return { ok: false, reason: error instanceof Bad ? error.reason : "malformed" };
  }
  const isNew = await question.used.firstUse(claims.jti, claims.exp);
  if (!isNew) return { ok: false, reason: "replayed" };
  return { ok: true, complete: claims.cpl, claims };
}

async function readToken(token: string, question: TokenQuestion): Promise<Claims> {
  const parts = token.split(".", 4);
  const [head = "", body = "", signature = ""] = parts;
  if (token.length > LONGEST || parts.length !== 3) throw new Bad("malformed");
  const { alg, typ, crit } = jsonIn(head);
  if (alg !== "HS256" || typ !== "gatepost+jwt" || crit !== undefined) throw new Bad("malformed");
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await isSigned(signed, decode(signature), question.secrets))) throw new Bad("signature");
  const claims = jsonIn(body);
  await checkClaims(claims, question);
  return claims as unknown as Claims;
}

function jsonIn(part: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(decode(part)));
  if (!isFields(value)) throw new Bad("malformed");
  return value;
}

async function isSigned(
  data: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  secrets: readonly string[],
): Promise<boolean> {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  for (const secret of secrets) {
    const octets = new TextEncoder().encode(secret);
    const key = await crypto.subtle.importKey("raw", octets, hmac, false, ["verify"]);
    if (await crypto.subtle.verify("HMAC", key, signature, data)) return true;
  }
  return false;
}

/** Without Unicode white space, U+FEFF and U+200B at both ends, as the service trims an address. */
export const trimEmail = (text: string): string =>
  text.replace(/^[\s\u0085\u200b]+|(?<![\s\u0085\u200b])[\s\u0085\u200b]+$/g, "");

async function checkClaims(
  { exp, aud, sub, form, jti, cpl }: Readonly<Record<string, unknown>>,
  asked: TokenQuestion,
): Promise<void> {
  const isWhole = Number.isInteger(exp) && typeof cpl === "boolean" && typeof jti === "string";
  if (!isWhole || !/^[0-9a-f]{32}$/.test(jti)) throw new Bad("malformed");
  if (Number(exp) <= asked.now) throw new Bad("expired");
  if (asked.account !== undefined && aud !== asked.account) throw new Bad("account");
  const address = new TextEncoder().encode(trimEmail(asked.email));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", address));
  if (sub !== encode(hash)) throw new Bad("address");
  if (asked.form !== undefined && form !== asked.form) throw new Bad("form");
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
