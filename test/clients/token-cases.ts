import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Why a token is not good; a good one has none. */
export type TokenFault =
  "malformed" | "unknown_key" | "signature" | "issuer" | "expired" | "address" | "replayed";

export interface TokenCase {
  readonly name: string;
  readonly token: string;
  readonly email: string;
  /** Seconds. */
  readonly now: number;
  readonly fault?: TokenFault;
}

/** One table for every language: run it in order, with one memory of ids. */
export interface TokenTable {
  readonly issuer: string;
  readonly keys: readonly Readonly<Record<string, string>>[];
  readonly cases: readonly TokenCase[];
}

const ISSUER = "https://gatepost.example";
const EMAIL = "jo@good.example";
const NOW = 1_800_000_000;

/** What the service trims beside ASCII blanks. */
const SPACES = "\u0085\u00a0\u1680\u2000\u2009\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff";

const encode = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

const subject = (address: string): string =>
  createHash("sha256").update(address).digest("base64url");

interface Key {
  readonly jwk: Readonly<Record<string, string>>;
  readonly private: KeyObject;
}

function newKey(kid: string): Key {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  return {
    jwk: { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" },
    private: privateKey,
  };
}

type Part = Readonly<Record<string, unknown>>;

/** Signs tokens; each has an id of its own. */
class Issuer {
  readonly current = newKey("current");
  readonly old = newKey("old");
  readonly foreign = newKey("foreign");
  #count = 0;

  claims(more: Part = {}): Part {
    this.#count += 1;
    return {
      iss: ISSUER,
      iat: NOW - 5,
      exp: NOW + 595,
      jti: this.#count.toString(16).padStart(32, "0"),
      sub: subject(EMAIL),
      dom: "good.example",
      dec: "accept",
      rsn: "ok",
      pol: "default@1",
      cpl: true,
      ...more,
    };
  }

  /** A value of undefined leaves a member out; a text stands for the whole part. */
  token(claims: Part | string = {}, head: Part | string = {}, key = this.current): string {
    const header = { alg: "EdDSA", kid: key.jwk["kid"], typ: "gatepost+jwt" };
    const first = encode(typeof head === "string" ? head : { ...header, ...head });
    const second = encode(typeof claims === "string" ? claims : this.claims(claims));
    return this.seal(`${first}.${second}`, key);
  }

  seal(input: string, key = this.current): string {
    return `${input}.${sign(null, Buffer.from(input), key.private).toString("base64url")}`;
  }
}

type Row = readonly [
  name: string,
  token: string,
  fault?: TokenFault | undefined,
  more?: Partial<Pick<TokenCase, "email" | "now">>,
];

function goodRows(by: Issuer): readonly Row[] {
  const padded = { email: ` \t\r\n\v\f${SPACES}jo@good.example${SPACES}\n ` };
  const german = { email: "jörg@bücher.example" };
  const last = { now: NOW + 594 };
  return [
    ["a token of the current key", by.token()],
    ["a token of the old key", by.token({}, {}, by.old)],
    ["an address with blanks around it", by.token(), undefined, padded],
    ["an address outside ASCII", by.token({ sub: subject(german.email) }), undefined, german],
    ["the last second", by.token(), undefined, last],
    ["a rejection", by.token({ dec: "reject", rsn: "disposable" })],
    ["a token with a form", by.token({ form: "sign-up", cpl: false })],
    ["a claim of a later version", by.token({ later: [1, { x: "y" }] })],
  ];
}

function shapeRows(by: Issuer): readonly Row[] {
  const good = by.token();
  const [head = "", body = "", signature = ""] = good.split(".");
  const unsigned = `${head}.${body}`;
  return [
    ["no token", "", "malformed"],
    ["a blank", " ", "malformed"],
    ["one part", head, "malformed"],
    ["two parts", unsigned, "malformed"],
    ["four parts", `${good}.${signature}`, "malformed"],
    ["an empty signature", `${unsigned}.`, "signature"],
    ["an empty header", `.${body}.${signature}`, "malformed"],
    ["a blank before it", ` ${good}`, "malformed"],
    ["a line end after it", `${good}\n`, "malformed"],
    ["padding after it", `${good}==`, "malformed"],
    ["base64 instead of base64url", `${unsigned}.${"+/".repeat(43)}`, "malformed"],
    ["another spelling of the same signature", `${unsigned}.${respelled(signature)}`, "malformed"],
    ["a letter outside ASCII", `${unsigned}.${signature.slice(1)}é`, "malformed"],
    ["a NUL after it", `${good}\0`, "malformed"],
    ["more than 4,096 characters", by.token({ form: "x".repeat(4_096) }), "malformed"],
  ];
}

/** The last character of 64 octets holds four unused bits. */
function respelled(signature: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = letters.indexOf(signature.at(-1) ?? "");
  return signature.slice(0, -1) + (letters[last + 1] ?? "");
}

function headerRows(by: Issuer): readonly Row[] {
  const nested = "[".repeat(2_900);
  return [
    ["alg none", by.token({}, { alg: "none" }), "malformed"],
    ["alg HS256", by.token({}, { alg: "HS256" }), "malformed"],
    ["alg in another case", by.token({}, { alg: "eddsa" }), "malformed"],
    ["no alg", by.token({}, { alg: undefined }), "malformed"],
    ["the name alg in another case", by.token({}, { alg: undefined, ALG: "EdDSA" }), "malformed"],
    ["typ JWT", by.token({}, { typ: "JWT" }), "malformed"],
    ["no typ", by.token({}, { typ: undefined }), "malformed"],
    ["critical extensions", by.token({}, { crit: ["b64"], b64: false }), "malformed"],
    ["an unknown key", by.token({}, {}, by.foreign), "unknown_key"],
    ["no kid", by.token({}, { kid: undefined }), "malformed"],
    ["a kid that is not text", by.token({}, { kid: ["current"] }), "malformed"],
    ["a key of another kind", by.token({}, { kid: "rsa" }), "unknown_key"],
    ["a key brought along", by.token({}, { jwk: by.foreign.jwk }, by.foreign), "unknown_key"],
    ["a header that is not JSON", by.token({}, "{alg:EdDSA}"), "malformed"],
    ["a header that is an array", by.token({}, "[]"), "malformed"],
    ["a header that is null", by.token({}, "null"), "malformed"],
    ["a header of many levels", by.token("{}", nested), "malformed"],
  ];
}

function signatureRows(by: Issuer): readonly Row[] {
  const good = by.token();
  const [head = "", body = "", signature = ""] = good.split(".");
  const octets = Buffer.from(signature, "base64url");
  const signedBy = (other: Uint8Array): string =>
    `${head}.${body}.${Buffer.from(other).toString("base64url")}`;
  const flipped = (at: number): string => {
    const other = Uint8Array.from(octets);
    other[at] = (other[at] ?? 0) ^ 1;
    return signedBy(other);
  };
  const changed = encode(by.claims({ dec: "accept", rsn: "allowed" }));
  const neutral = Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]);
  const foreign = by.token({}, { kid: "current" }, by.foreign);
  const [, , another = ""] = by.token().split(".");
  return [
    ["changed claims", `${head}.${changed}.${signature}`, "signature"],
    ["a changed header", `${encode({ ...JSON.parse(decodeText(head)), x: 1 })}.${body}.${signature}`, "signature"], // prettier-ignore
    ["the signature of another token", `${head}.${body}.${another}`, "signature"],
    ["the first bit of R changed", flipped(0), "signature"],
    ["the first bit of S changed", flipped(32), "signature"],
    ["the last octet of S changed", flipped(63), "signature"],
    ["S plus the order of the group", signedBy(plusOrder(octets)), "signature"],
    ["a signature of zeros", signedBy(Buffer.alloc(64)), "signature"],
    ["the neutral point as R", signedBy(neutral), "signature"],
    ["a signature cut by an octet", signedBy(octets.subarray(0, 63)), "signature"],
    ["a signature with an octet more", signedBy(Buffer.concat([octets, Buffer.alloc(1)])), "signature"], // prettier-ignore
    ["the key id of ours, signed by another", foreign, "signature"],
    ["the id of the old key", by.token({}, { kid: "old" }), "signature"],
    ["a published key that is too short", by.token({}, { kid: "short" }), "signature"],
  ];
}

const decodeText = (part: string): string => Buffer.from(part, "base64url").toString();

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** RFC 8032 section 5.1.7 refuses it: the same number, written differently. */
function plusOrder(signature: Uint8Array): Uint8Array {
  const text = Buffer.from(signature.slice(32)).reverse().toString("hex");
  const more = (BigInt(`0x${text}`) + ORDER).toString(16).padStart(64, "0");
  return Buffer.concat([signature.slice(0, 32), Buffer.from(more, "hex").reverse()]);
}

function claimRows(by: Issuer): readonly Row[] {
  const once = by.token();
  return [
    ["the second it ends", by.token(), "expired", { now: NOW + 595 }],
    ["an hour later", by.token(), "expired", { now: NOW + 3_600 }],
    ["no exp", by.token({ exp: undefined }), "malformed"],
    ["exp as text", by.token({ exp: String(NOW + 595) }), "malformed"],
    ["exp true", by.token({ exp: true }), "malformed"],
    ["exp null", by.token({ exp: null }), "malformed"],
    ["exp of a fraction", by.token({ exp: NOW + 0.5 }), "malformed"],
    ["exp below zero", by.token({ exp: -1 }), "expired"],
    ["another issuer", by.token({ iss: "https://other.example" }), "issuer"],
    ["the issuer with a slash", by.token({ iss: `${ISSUER}/` }), "issuer"],
    ["no issuer", by.token({ iss: undefined }), "issuer"],
    ["an issuer that is a list", by.token({ iss: [ISSUER] }), "issuer"],
    ["another address", by.token(), "address", { email: "jo@mailinator.com" }],
    ["the address in another case", by.token(), "address", { email: "Jo@good.example" }],
    ["no address", by.token(), "address", { email: "" }],
    ["a NUL after the address", by.token(), "address", { email: `${EMAIL}\0` }],
    ["a wide blank after the address", by.token(), "address", { email: `${EMAIL}\u00A0` }],
    ["the address itself as sub", by.token({ sub: EMAIL }), "address"],
    ["no sub", by.token({ sub: undefined }), "address"],
    ["no id", by.token({ jti: undefined }), "malformed"],
    ["an empty id", by.token({ jti: "" }), "malformed"],
    ["an id with a line end", by.token({ jti: `${"a".repeat(32)}\n` }), "malformed"],
    ["claims that are an array", by.token("[]"), "malformed"],
    ["claims that are not JSON", by.token("{"), "malformed"],
    ["claims that are null", by.token("null"), "malformed"],
    ["a token used once", once],
    ["the same token again", once, "replayed"],
  ];
}

/** At least 40 changed tokens, and some good ones; new keys each time. */
export function tokenTable(): TokenTable {
  const by = new Issuer();
  const rows = [goodRows, shapeRows, headerRows, signatureRows, claimRows].flatMap((of) => of(by));
  const short = { kty: "OKP", crv: "Ed25519", x: "AAAA", kid: "short", use: "sig", alg: "EdDSA" };
  const rsa = { kty: "RSA", n: "AQAB", e: "AQAB", kid: "rsa" };
  return {
    issuer: ISSUER,
    keys: [by.current.jwk, by.old.jwk, short, rsa],
    cases: rows.map(([name, token, fault, { email = EMAIL, now = NOW } = {}]) => ({
      name,
      token,
      email,
      now,
      ...(fault === undefined ? {} : { fault }),
    })),
  };
}
