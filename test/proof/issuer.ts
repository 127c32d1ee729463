import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Lookup } from "../../src/core/mail/lookup.ts";
import { createProofs, type ProofOffer } from "../../src/gate/proof/proof.ts";
import { createFetchJson } from "../../src/gate/published-json.ts";
import type { HttpQuestion, HttpReply, OutboundResult } from "../../src/outbound/outbound-types.ts";
import { type Zone, zoneLookup } from "../dns/zone-lookup.ts";

export const NOW_MS = 1_795_000_000_000;
const NOW = NOW_MS / 1_000;

export const ADDRESS = "Jo@mail.example";
export const NONCE = "vN0nceOfTheSession0123456789";
export const ORIGIN = "https://shop.example";
export const METADATA = "https://issuer.example/.well-known/email-verification";
export const KEYS = "https://keys.example/jwks.json";

type Json = Record<string, unknown>;
type Alg = "EdDSA" | "ES256" | "RS256";

interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const made = {
  EdDSA: generateKeyPairSync("ed25519"),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  RS256: generateKeyPairSync("rsa", { modulusLength: 2_048 }),
} satisfies Record<Alg, Pair>;

export const ISSUER_KEYS: Readonly<Record<Alg, Pair>> = made;
export const BROWSER_KEYS: Readonly<Record<Alg, Pair>> = {
  EdDSA: generateKeyPairSync("ed25519"),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  RS256: made.RS256,
};
export const OTHER_KEYS = generateKeyPairSync("ed25519");

export const jwkOf = ({ publicKey }: Pick<Pair, "publicKey">): Json => ({
  ...publicKey.export({ format: "jwk" }),
});

const part = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Signs by what the key is, whatever the header says. */
export function jws(
  header: Json,
  payload: unknown,
  { privateKey }: Pick<Pair, "privateKey">,
): string {
  const input = `${part(header)}.${part(payload)}`;
  const hash = privateKey.asymmetricKeyType === "ed25519" ? null : "sha256";
  const signature = sign(hash, Buffer.from(input), {
    key: privateKey,
    dsaEncoding: "ieee-p1363",
  });
  return `${input}.${signature.toString("base64url")}`;
}

/** A good token in pieces; a hostile one changes some of them. */
export interface Pieces {
  readonly head: Json;
  readonly claims: Json | string;
  readonly issuer: Pick<Pair, "privateKey">;
  readonly bindingHead: Json;
  readonly binding: Json;
  readonly browser: Pick<Pair, "privateKey">;
  /** After the issuer signed. */
  readonly sealed: (evt: string) => string;
  /** Over what the browser's hash is made. */
  readonly hashed: (evt: string) => string;
  /** The whole, at last. */
  readonly whole: (token: string) => string;
}

const same = (text: string): string => text;

export function piecesFor(alg: Alg = "EdDSA", kid: string = alg): Pieces {
  return {
    head: { alg, kid, typ: "evt+jwt" },
    claims: {
      iss: "issuer.example",
      iat: NOW,
      cnf: { jwk: jwkOf(BROWSER_KEYS[alg]) },
      email: ADDRESS,
      email_verified: true,
    },
    issuer: ISSUER_KEYS[alg],
    bindingHead: { alg, typ: "kb+jwt" },
    binding: { aud: ORIGIN, nonce: NONCE, iat: NOW },
    browser: BROWSER_KEYS[alg],
    sealed: same,
    hashed: (evt) => `${evt}~`,
    whole: same,
  };
}

export function tokenOf(pieces: Pieces): string {
  const evt = pieces.sealed(jws(pieces.head, pieces.claims, pieces.issuer));
  const sd_hash = createHash("sha256").update(pieces.hashed(evt)).digest("base64url");
  const kb = jws(pieces.bindingHead, { sd_hash, ...pieces.binding }, pieces.browser);
  return pieces.whole(`${evt}~${kb}`);
}

type Reply = OutboundResult<HttpReply>;

export const reply = (body: unknown, status = 200, cut = false): Reply => ({
  ok: true,
  value: {
    status,
    headers: {},
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    cut,
  },
});

const DOCUMENTS: Readonly<Record<string, Reply>> = {
  [METADATA]: reply({ jwks_uri: KEYS, issuance_endpoint: "https://issuer.example/issue" }),
  [KEYS]: reply({
    keys: Object.entries(ISSUER_KEYS).map(([kid, pair]) => ({ ...jwkOf(pair), kid })),
  }),
};

export const DELEGATED: Zone = {
  "_email-verification.mail.example": { txt: ["iss=issuer.example", "v=spf1 -all"] },
};

interface Issuer {
  readonly zone?: Zone;
  readonly lookup?: Pick<Lookup, "txt">;
  readonly documents?: Readonly<Record<string, Reply | "silent">>;
}

/** An issuer of `mail.example` whose keys are on another host, with time by hand. */
export function issuerWorld({ zone = DELEGATED, lookup, documents = {} }: Issuer = {}) {
  const all: Record<string, Reply | "silent"> = { ...DOCUMENTS, ...documents };
  const asked: string[] = [];
  let [passedMs, open, most] = [0, 0, 0];
  const http = async ({ url }: HttpQuestion): Promise<Reply> => {
    asked.push(url);
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    const found = all[url] ?? { ok: false, fault: "unresolved" };
    return found === "silent" ? await new Promise(() => undefined) : found;
  };
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => passedMs };
  const fetchJson = createFetchJson({ http }, clock);
  const prove = createProofs({ lookup: lookup ?? zoneLookup(zone), fetchJson, clock });
  const verify = async (evt: string, more: Partial<ProofOffer & { text: string }> = {}) => {
    const until = { isPast: false };
    const offer = { evt, nonce: NONCE, origin: ORIGIN, text: ADDRESS, by: "account:1", until };
    return await prove({ ...offer, ...more });
  };
  const publish = (url: string, document: Reply): void => void (all[url] = document);
  return {
    asked,
    verify,
    prove,
    publish,
    wait: (ms: number) => (passedMs += ms),
    most: () => most,
  };
}
