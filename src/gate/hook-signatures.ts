import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  type JWK,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from "jose";
import type { Clock } from "../base/clock.ts";
import { signedHs256 } from "../base/secrets.ts";
import { type FetchJson, isSignedBy, keySets } from "./published-json.ts";

/** A call as it came: signatures are over the very octets. */
export interface HookRequest {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

function header({ headers }: Pick<HookRequest, "headers">, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "object" ? value.join(",") : value;
}

export interface HookKeys {
  readonly secret: string;
  readonly nowMs: number;
  /** The system's public keys, where the hook names them; `kid` is the one that is looked for. */
  readonly jwks: (kid: string | undefined) => Promise<readonly JWK[]>;
}

export type Authenticate = (
  request: HookRequest,
  keys: HookKeys,
) => Promise<string | undefined> | string | undefined;

const TOLERANCE_MS = 300_000;
const CLOCK_SKEW_MS = 60_000;

const MISMATCH = "The signature does not match.";
const OLD = "The timestamp is missing or more than 5 minutes off.";

/** In constant time for texts of one length. */
function same(a: string, b: string): boolean {
  const [given, wanted] = [Buffer.from(a), Buffer.from(b)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const isRecent = (ms: number, nowMs: number): boolean => Math.abs(nowMs - ms) <= TOLERANCE_MS;

function hmac(
  key: Uint8Array | string,
  parts: readonly (string | Uint8Array)[],
  form: "base64" | "hex",
): string {
  const hash = createHmac("sha256", key);
  for (const part of parts) hash.update(part);
  return hash.digest(form);
}

/** The key behind "v1,whsec_..." or "whsec_...": canonical base64 of 24 to 64 octets, else undefined. */
export function standardKey(secret: string): Buffer | undefined {
  const text = secret.replace(/^v1,/, "").replace(/^whsec_/, "");
  const key = Buffer.from(text, "base64");
  const isSound = key.length >= 24 && key.length <= 64 && key.toString("base64") === text;
  return isSound ? key : undefined;
}

/** Standard Webhooks; Svix sends the same under names of its own. */
export const standardWebhooks: Authenticate = (request, { secret, nowMs }) => {
  const read = (name: string): string =>
    header(request, `webhook-${name}`) ?? header(request, `svix-${name}`) ?? "";
  const [id, timestamp] = [read("id"), read("timestamp")];
  if (id === "") return "The header webhook-id is missing.";
  if (!/^\d{1,12}$/.test(timestamp) || !isRecent(Number(timestamp) * 1_000, nowMs)) return OLD;
  const key = standardKey(secret);
  if (key === undefined) return "The hook's secret is unusable: make a new one.";
  const wanted = hmac(key, [`${id}.${timestamp}.`, request.body], "base64");
  // Supabase joins several with a comma and a blank, the standard with a blank.
  const given = read("signature").split(/\s+/).slice(0, 20);
  const pieces = given.map((piece) => piece.replace(/,$/, ""));
  return pieces.some((piece) => same(piece, `v1,${wanted}`)) ? undefined : MISMATCH;
};

export function signStandard(body: string, secret: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const id = "gatepost-test";
  const signature = hmac(standardKey(secret) ?? "", [`${id}.${timestamp}.${body}`], "base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

/** The password of basic authentication (RFC 7617). */
const passwordIn = (encoded: string): string =>
  Buffer.from(encoded, "base64")
    .toString()
    .replace(/^[^:]*:/, "");

/** The secret as a Bearer token, as the password of basic authentication, or in X-Api-Key. */
export const sharedSecret: Authenticate = (request, { secret }) => {
  const authorization = header(request, "authorization") ?? "";
  const [, scheme = "", value = ""] = /^(\S+) +(.+)$/.exec(authorization) ?? [];
  const isBasic = scheme.toLowerCase() === "basic";
  const given = isBasic ? passwordIn(value) : value;
  const candidates = [given, header(request, "x-api-key") ?? "", authorization];
  return candidates.some((one) => same(one.trim(), secret)) ? undefined : "The secret is wrong.";
};

/** ZITADEL-Signature: t=SECONDS,v1=HEX, several v1 while keys change. */
export const zitadelSignature: Authenticate = (request, { secret, nowMs }) => {
  const parts = (header(request, "zitadel-signature") ?? "").split(",").slice(0, 20);
  const values = (name: string): readonly string[] =>
    parts.flatMap((part) =>
      part.trim().startsWith(`${name}=`) ? part.trim().slice(name.length + 1) : [],
    );
  const [timestamp = ""] = values("t");
  if (!/^\d{1,12}$/.test(timestamp) || !isRecent(Number(timestamp) * 1_000, nowMs)) return OLD;
  const wanted = hmac(secret, [`${timestamp}.`, request.body], "hex");
  return values("v1").some((one) => same(one, wanted)) ? undefined : MISMATCH;
};

export function signZitadel(body: string, secret: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  return {
    "zitadel-signature": `t=${timestamp},v1=${hmac(secret, [`${timestamp}.${body}`], "hex")}`,
  };
}

const SECRET_ALGORITHMS = ["HS256", "HS384", "HS512"];
const PUBLIC_ALGORITHMS = "RS256 RS384 RS512 ES256 ES384 ES512 EdDSA".split(" ");

/** Empty for what holds no JSON object. */
const headOf = (token: string): ProtectedHeaderParameters =>
  orEmpty(() => decodeProtectedHeader(token));
const claimsOf = (token: string): JWTPayload => orEmpty(() => decodeJwt(token));

function orEmpty<T extends object>(read: () => T): T | Record<string, never> {
  try {
    return read();
  } catch {
    return {};
  }
}

async function isSignedByOneOf(
  jwks: HookKeys["jwks"],
  signed: Parameters<typeof isSignedBy>[1],
  { alg = "", kid }: { readonly alg?: string | undefined; readonly kid?: string | undefined },
): Promise<boolean> {
  if (!PUBLIC_ALGORITHMS.includes(alg)) return false;
  const jwk = (await jwks(kid)).find((one) => kid === undefined || one.kid === kid);
  const algorithms = PUBLIC_ALGORITHMS;
  return jwk !== undefined && (await isSignedBy(jwk, signed, { alg, algorithms }));
}

/** The claim is the hash of the body. The hook says whether the key is a secret or public: the token never chooses. */
export const fusionAuthSignature: Authenticate = async (request, keys) => {
  const token = header(request, "x-fusionauth-signature-jwt");
  if (token === undefined) return sharedSecret(request, keys);
  const head = headOf(token);
  const isSecret = SECRET_ALGORITHMS.includes(head.alg ?? "");
  const isSigned = isSecret
    ? await compactVerify(token, Buffer.from(keys.secret), { algorithms: SECRET_ALGORITHMS }).then(
        () => true,
        () => false,
      )
    : await isSignedByOneOf(keys.jwks, token, head);
  if (!isSigned) return MISMATCH;
  const wanted = createHash("sha256").update(request.body).digest("base64");
  const claims = claimsOf(token);
  if (claims["request_body_sha256"] !== wanted) return MISMATCH;
  return isInForce(claims, keys.nowMs) ? undefined : OLD;
};

/** The times that the token states (RFC 7519 section 4.1); FusionAuth documents none. */
function isInForce({ iat, nbf, exp }: Readonly<Record<string, unknown>>, nowMs: number): boolean {
  const isWithin = (claim: unknown, holds: (ms: number) => boolean): boolean =>
    claim === undefined || (typeof claim === "number" && holds(claim * 1_000));
  return (
    isWithin(iat, (ms) => isRecent(ms, nowMs)) &&
    isWithin(nbf, (ms) => ms <= nowMs + TOLERANCE_MS) &&
    isWithin(exp, (ms) => ms > nowMs - CLOCK_SKEW_MS)
  );
}

export function signFusionAuth(
  body: string,
  secret: string,
  nowMs: number,
): Record<string, string> {
  const request_body_sha256 = createHash("sha256").update(body).digest("base64");
  const claims = { request_body_sha256, iat: Math.floor(nowMs / 1_000) };
  return { "x-fusionauth-signature-jwt": signedHs256("JWT", claims, secret) };
}

/** A detached JWS over the timestamp and the body, both encoded twice (Neon Auth). */
export const neonSignature: Authenticate = async (request, { nowMs, jwks }) => {
  const read = (name: string): string => header(request, `x-neon-${name}`) ?? "";
  const timestamp = read("timestamp");
  if (!/^\d{1,15}$/.test(timestamp) || !isRecent(Number(timestamp), nowMs)) return OLD;
  const [head = "", payload, signature = "", ...more] = read("signature").split(".");
  const { alg, kid = read("signature-kid") || undefined } = headOf(read("signature"));
  if (alg !== "EdDSA" || payload !== "" || more.length > 0) return MISMATCH;
  const inner = `${timestamp}.${Buffer.from(request.body).toString("base64url")}`;
  const detached = {
    protected: head,
    payload: Buffer.from(inner).toString("base64url"),
    signature,
  };
  return (await isSignedByOneOf(jwks, detached, { alg, kid })) ? undefined : MISMATCH;
};

/** The hooks' own time is 1 s; the last keys stay while their server fails. */
const KEYS = { timeoutMs: 700, keptMs: Infinity };

/** Public keys of identity systems by URL. Rejects without any keys. */
export function createHookKeys(
  fetchJson: FetchJson,
  clock: Pick<Clock, "monotonicMs">,
): (url: string, accountId: string) => HookKeys["jwks"] {
  const sets = keySets(fetchJson, clock, KEYS);
  return (url, accountId) => async (kid) => {
    const set = await sets.at(url, accountId, (keys) =>
      keys.some((key) => kid === undefined || key.kid === kid),
    );
    if (set === undefined) {
      throw new Error(`the public keys at ${new URL(url).host} cannot be fetched`);
    }
    return set.value;
  };
}
