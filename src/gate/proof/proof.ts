import { createHash } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, type JWK } from "jose";
import type { Clock } from "../../base/clock.ts";
import { readEntry, trimEntry } from "../../core/address/address.ts";
import { isHostName } from "../../core/name/domain.ts";
import type { Verified } from "../../core/policy/policy.ts";
import type { Lookup, Until } from "../../core/mail/lookup.ts";
import { type FetchJson, isSignedBy, keySets, PublishedJson } from "../published-json.ts";

/** In front of the address's domain, a TXT record that begins with `DELEGATION` names the issuer. */
const DNS_LABEL = "_email-verification";
const DELEGATION = "iss=";

/** Stands between the issuer's token, which it closes, and the browser's. */
const TILDE = "~";

const ISSUED_TYPE = "evt+jwt";
const BINDING_TYPE = "kb+jwt";
const ALGORITHMS = ["EdDSA", "ES256", "RS256"] as const;

interface Issued {
  readonly iss?: unknown;
  readonly iat?: unknown;
  readonly cnf?: { readonly jwk?: unknown };
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly is_private_email?: unknown;
}

interface Binding {
  readonly aud?: unknown;
  readonly nonce?: unknown;
  readonly iat?: unknown;
  readonly sd_hash?: unknown;
}

export interface Proof {
  readonly verified: Verified;
  /** The issuer says that the address hides another one. */
  readonly isPrivate: boolean;
}

export interface ProofOffer {
  readonly evt: string;
  readonly nonce: string;
  readonly origin: string;
}

export interface ProofQuestion extends ProofOffer {
  readonly text: string;
  readonly by: string;
  readonly until: Until;
}

/** Never rejects for what a token, DNS or a server says. */
export type VerifyProof = (question: ProofQuestion) => Promise<Proof>;

interface ProofDeps {
  readonly lookup: Pick<Lookup, "txt">;
  readonly fetchJson: FetchJson;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
}

const NO: Proof = { verified: "no", isPrivate: false };
export const UNPROVEN: Proof = { verified: "unknown", isPrivate: false };

const CLOCKS_APART_SECONDS = 300;
const FETCH = { timeoutMs: 2_000, keptMs: 3_600_000 };

/** `EVT~KB`, each a compact JWS. */
const FORM = /^([\w-]+\.[\w-]+\.[\w-]+)~([\w-]+\.[\w-]+\.[\w-]+)$/;

interface Jws<Claims> {
  readonly text: string;
  readonly alg: string;
  readonly kid: string | undefined;
  readonly claims: Claims;
}

export function createProofs({ lookup, fetchJson, clock }: ProofDeps): VerifyProof {
  const metadata = new PublishedJson({ fetchJson, clock, read: keysUrlOf, ...FETCH });
  const sets = keySets(fetchJson, clock, FETCH);
  const keyOf = async (issuer: string, id: string): Promise<JWK | Proof | undefined> => {
    const url = await metadata.at(`https://${issuer}/.well-known/email-verification`, issuer);
    const isWanted = ({ kid }: JWK): boolean => kid === id;
    const keys = url && (await sets.at(url.value, issuer, (all) => all.some(isWanted)));
    if (keys === undefined) return UNPROVEN;
    return keys.value.find(isWanted) ?? (keys.isCurrent ? undefined : UNPROVEN);
  };
  return async (question) => {
    const entry = readEntry(question.text, "address");
    const issued = await ownToken(question, clock.nowMs() / 1_000);
    if (entry.kind !== "address" || issued === undefined) return NO;
    const issuer = await issuerOf(entry.domain.name, question, lookup);
    if (issuer === undefined) return UNPROVEN;
    const { iss, is_private_email: isPrivate } = issued.claims;
    if (iss !== issuer || !isHostName(issuer.toLowerCase())) return NO;
    const key = await keyOf(issuer, issued.kid ?? "");
    if (key === UNPROVEN) return UNPROVEN;
    if (!(await isSigned(issued, key))) return NO;
    return { verified: "yes", isPrivate: isPrivate === true };
  };
}

/** The issuer's half, if the browser's half fits it and the question: nobody is asked anything before that. */
async function ownToken(question: ProofQuestion, now: number): Promise<Jws<Issued> | undefined> {
  const [, evt = "", kb = ""] = FORM.exec(question.evt) ?? [];
  const issued = readJws<Issued>(evt, ISSUED_TYPE);
  const binding = readJws<Binding>(kb, BINDING_TYPE);
  if (issued?.kid === undefined || binding === undefined) return undefined;
  const isFit = isOf(issued.claims, question, now) && isBound(binding.claims, evt, question, now);
  return isFit && (await isSigned(binding, issued.claims.cnf?.jwk)) ? issued : undefined;
}

function keysUrlOf(json: unknown): string | undefined {
  const { jwks_uri: url } = Object(json) as { readonly jwks_uri?: unknown };
  return typeof url === "string" && url.startsWith("https://") ? url : undefined;
}

function readJws<Claims>(text: string, type: string): Jws<Claims> | undefined {
  try {
    const { alg = "", typ, kid, crit, b64 } = decodeProtectedHeader(text);
    if (crit !== undefined || b64 !== undefined) return undefined; // RFC 7797 section 7: never in a JWT
    if (typ !== type || !ALGORITHMS.some((one) => one === alg)) return undefined;
    return { text, alg, kid, claims: decodeJwt(text) as Claims };
  } catch {
    return undefined; // no JSON objects in it
  }
}

function isOf(
  { email, email_verified: isVerified, iat }: Issued,
  { text }: ProofQuestion,
  now: number,
): boolean {
  if (isVerified !== true || typeof email !== "string" || !isRecent(iat, now)) return false;
  return inLowerAscii(email) === inLowerAscii(trimEntry(text));
}

function isBound(binding: Binding, evt: string, asked: ProofQuestion, now: number): boolean {
  const hash = createHash("sha256").update(evt + TILDE);
  return (
    binding.aud === asked.origin &&
    binding.nonce === asked.nonce &&
    binding.sd_hash === hash.digest("base64url") &&
    isRecent(binding.iat, now)
  );
}

const isRecent = (iat: unknown, now: number): boolean =>
  typeof iat === "number" && Math.abs(now - iat) <= CLOCKS_APART_SECONDS;

const inLowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

async function isSigned({ text, alg }: Jws<unknown>, jwk: unknown): Promise<boolean> {
  if (typeof jwk !== "object" || jwk === null) return false;
  return await isSignedBy(jwk as JWK, text, { alg, algorithms: ALGORITHMS });
}

/** As the domain's only delegation names it; "" when there is none or several, undefined when DNS did not say. */
async function issuerOf(
  domain: string,
  { by, until }: ProofQuestion,
  lookup: Pick<Lookup, "txt">,
): Promise<string | undefined> {
  const answer = await lookup.txt(`${DNS_LABEL}.${domain}`, by, until);
  if (answer.kind === "unknown") return undefined;
  const texts = answer.kind === "found" ? answer.records : [];
  const [named = "", ...more] = texts.filter((text) => text.startsWith(DELEGATION));
  return more.length > 0 ? "" : named.slice(DELEGATION.length);
}
