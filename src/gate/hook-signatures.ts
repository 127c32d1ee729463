import {
  createHash,
  createHmac,
  createPublicKey,
  type JsonWebKey,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import type { Outbound } from "../outbound/outbound-types.ts";

/** A call as it came: signatures are over the very octets. */
export interface HookRequest {
  readonly body: Uint8Array;
  /** Names in lower case, as Node gives them. */
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
  readonly jwks: (kid: string | undefined) => Promise<readonly JsonWebKey[]>;
}

/** Why a call is not what its system would send, in a plain sentence; undefined when it is. */
export type Authenticate = (
  request: HookRequest,
  keys: HookKeys,
) => Promise<string | undefined> | string | undefined;

/** How far the clock of the system may be from ours. */
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

/** The secret as a Bearer token, as the password of basic authentication, or in X-Api-Key. */
export const sharedSecret: Authenticate = (request, { secret }) => {
  const authorization = header(request, "authorization") ?? "";
  const [, scheme = "", value = ""] = /^(\S+) +(.+)$/.exec(authorization) ?? [];
  const basic = Buffer.from(value, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
  const given = scheme.toLowerCase() === "basic" ? basic : value;
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

interface Jws {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly input: string;
  readonly payload: string;
  readonly signature: Buffer;
}

/** The JSON object in base64url; empty for anything else. */
function readPart(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function readJws(text: string): Jws | undefined {
  const [head = "", payload = "", signature = ""] = text.split(".");
  const { alg, kid } = readPart(head);
  if (typeof alg !== "string") return undefined;
  return {
    alg,
    kid: typeof kid === "string" ? kid : undefined,
    input: `${head}.${payload}`,
    payload,
    signature: Buffer.from(signature, "base64url"),
  };
}

const HMAC_HASH = new Map([
  ["HS256", "sha256"],
  ["HS384", "sha384"],
  ["HS512", "sha512"],
]);

/** The hash of each algorithm with a public key; Ed25519 has its own. */
const PUBLIC_HASH = new Map<string, string | undefined>([
  ["RS256", "sha256"],
  ["RS384", "sha384"],
  ["RS512", "sha512"],
  ["ES256", "sha256"],
  ["ES384", "sha384"],
  ["ES512", "sha512"],
  ["EdDSA", undefined],
]);

async function isSignedBy(
  { alg, kid, signature }: Jws,
  input: string,
  jwks: HookKeys["jwks"],
): Promise<boolean> {
  if (!PUBLIC_HASH.has(alg)) return false;
  const jwk = (await jwks(kid)).find((one) => kid === undefined || one["kid"] === kid);
  if (jwk === undefined) return false;
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const dsaEncoding = "ieee-p1363" as const;
    return verify(PUBLIC_HASH.get(alg), Buffer.from(input), { key, dsaEncoding }, signature);
  } catch {
    return false; // no public key, or not one of this algorithm
  }
}

/** The claim is the hash of the body. The hook says whether the key is a secret or public: the token never chooses. */
export const fusionAuthSignature: Authenticate = async (request, keys) => {
  const token = header(request, "x-fusionauth-signature-jwt");
  if (token === undefined) return sharedSecret(request, keys);
  const jws = readJws(token);
  if (jws === undefined) return MISMATCH;
  const hash = HMAC_HASH.get(jws.alg);
  const isSigned =
    hash === undefined
      ? await isSignedBy(jws, jws.input, keys.jwks)
      : same(
          createHmac(hash, keys.secret).update(jws.input).digest("base64url"),
          jws.signature.toString("base64url"),
        );
  if (!isSigned) return MISMATCH;
  const wanted = createHash("sha256").update(request.body).digest("base64");
  const claims = readPart(jws.payload);
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
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const sha256 = createHash("sha256").update(body).digest("base64");
  const input = `${part({ alg: "HS256", typ: "JWT" })}.${part({ request_body_sha256: sha256, iat: Math.floor(nowMs / 1_000) })}`;
  const signature = createHmac("sha256", secret).update(input).digest("base64url");
  return { "x-fusionauth-signature-jwt": `${input}.${signature}` };
}

/** A detached JWS over the timestamp and the body, both encoded twice (Neon Auth). */
export const neonSignature: Authenticate = async (request, { nowMs, jwks }) => {
  const read = (name: string): string => header(request, `x-neon-${name}`) ?? "";
  const timestamp = read("timestamp");
  if (!/^\d{1,15}$/.test(timestamp) || !isRecent(Number(timestamp), nowMs)) return OLD;
  const text = read("signature");
  const jws = readJws(text);
  if (jws?.alg !== "EdDSA" || jws.payload !== "") return MISMATCH;
  const inner = `${timestamp}.${Buffer.from(request.body).toString("base64url")}`;
  const head = text.slice(0, text.indexOf("."));
  const input = `${head}.${Buffer.from(inner).toString("base64url")}`;
  const kid = jws.kid ?? (read("signature-kid") || undefined);
  return (await isSignedBy({ ...jws, kid }, input, jwks)) ? undefined : MISMATCH;
};

const FETCH_MS = 700;
const MAX_BYTES = 65_536;
const KEPT_MAX = 1_000;

/** How long keys are believed; a failure, or a set without the wanted key, is asked again sooner. */
const BELIEVED_MS = 300_000;
const ASKED_AGAIN_MS = 60_000;

interface KeySet {
  keys?: readonly JsonWebKey[] | undefined;
  askedAtMs: number;
  asking?: Promise<void> | undefined;
}

/** Public keys of identity systems by URL. `outbound` must reach public addresses only. Rejects without any keys. */
export function createHookKeys(
  outbound: Pick<Outbound, "http">,
  clock: Pick<Clock, "monotonicMs">,
): (url: string) => HookKeys["jwks"] {
  const kept = new LRUCache<string, KeySet>({ max: KEPT_MAX });
  const ask = async (url: string, set: KeySet): Promise<void> => {
    set.keys = (await fetchKeys(url, outbound)) ?? set.keys;
    set.askedAtMs = clock.monotonicMs();
    set.asking = undefined;
  };
  return (url) => async (kid) => {
    const set = kept.get(url) ?? { askedAtMs: -Infinity };
    kept.set(url, set);
    const isThere = set.keys?.some((key) => kid === undefined || key["kid"] === kid) === true;
    const isStale = clock.monotonicMs() - set.askedAtMs >= (isThere ? BELIEVED_MS : ASKED_AGAIN_MS);
    if (isStale) await (set.asking ??= ask(url, set));
    if (set.keys === undefined) {
      throw new Error(`the public keys at ${new URL(url).host} cannot be fetched`);
    }
    return set.keys;
  };
}

async function fetchKeys(
  url: string,
  outbound: Pick<Outbound, "http">,
): Promise<readonly JsonWebKey[] | undefined> {
  if (!url.startsWith("https://")) return undefined; // of a hook from before this was refused
  const answer = await outbound.http({
    url,
    method: "GET",
    headers: { accept: "application/json" },
    timeoutMs: FETCH_MS,
    maxBodyBytes: MAX_BYTES,
    maxRedirects: 0,
  });
  if (!answer.ok || answer.value.status !== 200 || answer.value.cut) return undefined;
  try {
    const { keys } = JSON.parse(Buffer.from(answer.value.body).toString()) as { keys?: unknown };
    if (!Array.isArray(keys)) return undefined;
    return keys.filter((key): key is JsonWebKey => typeof key === "object" && key !== null);
  } catch {
    return undefined;
  }
}
