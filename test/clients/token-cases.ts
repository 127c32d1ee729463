import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";

/** Why a token is not good; a good one has none. */
export type TokenFault =
  "malformed" | "signature" | "expired" | "account" | "address" | "form" | "replayed";

export interface TokenCase {
  readonly name: string;
  readonly token: string;
  readonly email: string;
  /** Seconds. */
  readonly now: number;
  /** The label that is expected; absent: any. */
  readonly form?: string;
  readonly fault?: TokenFault;
}

/** One table for every language: run it in order, with one memory of ids. */
export interface TokenTable {
  /** Of the account: the new one and the old one. */
  readonly secrets: readonly string[];
  readonly account: string;
  readonly cases: readonly TokenCase[];
}

const ACCOUNT = "0123456789abcdef0123456789abcdef";
const EMAIL = "jo@good.example";
const NOW = 1_800_000_000;

const secretOf = (letter: string): string => `gp_sign_${letter.repeat(43)}`;
const CURRENT = secretOf("A");
const OLD = secretOf("b");
const FOREIGN = secretOf("-");

const encode = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

const subject = (address: string): string =>
  createHash("sha256").update(address).digest("base64url");

type Part = Readonly<Record<string, unknown>>;

let count = 0;

function claimsOf(more: Part = {}): Part {
  count += 1;
  return {
    iss: "https://gatepost.example",
    aud: ACCOUNT,
    iat: NOW - 5,
    exp: NOW + 595,
    jti: count.toString(16).padStart(32, "0"),
    sub: subject(EMAIL),
    dec: "accept",
    rsn: "ok",
    pol: "default@1",
    key: "k1",
    cpl: true,
    ...more,
  };
}

const seal = (input: string, secret: string | Buffer = CURRENT, hash = "sha256"): string =>
  `${input}.${createHmac(hash, secret).update(input).digest("base64url")}`;

/** A value of undefined leaves a member out; a text stands for the whole part. */
function token(claims: Part | string = {}, head: Part | string = {}, secret = CURRENT): string {
  return seal(inputOf(claims, head), secret);
}

function inputOf(claims: Part | string = {}, head: Part | string = {}): string {
  const header = { alg: "HS256", typ: "gatepost+jwt" };
  const first = encode(typeof head === "string" ? head : { ...header, ...head });
  return `${first}.${encode(typeof claims === "string" ? claims : claimsOf(claims))}`;
}

type Row = readonly [
  name: string,
  token: string,
  fault?: TokenFault | undefined,
  more?: Partial<Pick<TokenCase, "email" | "now" | "form">>,
];

function goodRows(): readonly Row[] {
  const padded = { email: " \t\r\n\v\f\u00A0\u200Bjo@good.example\n\u3000 " };
  const german = { email: "jörg@bücher.example" };
  return [
    ["a token of the current secret", token()],
    ["a token of the old secret", token({}, {}, OLD)],
    ["an address with blanks around it", token(), undefined, padded],
    ["an address outside ASCII", token({ sub: subject(german.email) }), undefined, german],
    ["the last second", token(), undefined, { now: NOW + 594 }],
    ["a rejection", token({ dec: "reject", rsn: "disposable" })],
    ["the form that is expected", token({ form: "join" }), undefined, { form: "join" }],
    ["any form where none is expected", token({ form: "join", cpl: false })],
    ["a claim and a member of a later version", token({ later: [1, { x: "y" }] }, { kid: "1" })],
  ];
}

function shapeRows(): readonly Row[] {
  const good = token();
  const [head = "", body = "", signature = ""] = good.split(".");
  const unsigned = `${head}.${body}`;
  return [
    ["no token", "", "malformed"],
    ["a blank", " ", "malformed"],
    ["one part", head, "malformed"],
    ["two parts", unsigned, "malformed"],
    ["four parts", `${good}.${signature}`, "malformed"],
    ["an empty fourth part", `${good}.`, "malformed"],
    ["an empty signature", `${unsigned}.`, "signature"],
    ["an empty header", `.${body}.${signature}`, "malformed"],
    ["a blank before it", ` ${good}`, "malformed"],
    ["a line end after it", `${good}\n`, "malformed"],
    ["padding after it", `${good}=`, "malformed"],
    ["base64 instead of base64url", `${unsigned}.${"+/".repeat(21)}A`, "malformed"],
    ["another spelling of the same signature", `${unsigned}.${respelled(signature)}`, "malformed"],
    ["a letter outside ASCII", `${unsigned}.${signature.slice(1)}é`, "malformed"],
    ["a NUL after it", `${good}\0`, "malformed"],
    ["more than 4,096 characters", token({ form: "x".repeat(4_096) }), "malformed"],
    ["many dots", ".".repeat(4_000), "malformed"],
  ];
}

/** The last character of 32 octets holds two unused bits. */
function respelled(signature: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = letters.indexOf(signature.at(-1) ?? "");
  return signature.slice(0, -1) + (letters[last + 1] ?? "");
}

function headerRows(): readonly Row[] {
  const unsigned = inputOf({}, { alg: "none" });
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const edInput = inputOf({}, { alg: "EdDSA", jwk: publicKey.export({ format: "jwk" }) });
  const edSigned = `${edInput}.${sign(null, Buffer.from(edInput), privateKey).toString("base64url")}`;
  const brought = { kty: "oct", k: encode(FOREIGN) };
  return [
    ["alg none", `${unsigned}.`, "malformed"],
    ["alg none, signed", seal(unsigned), "malformed"],
    ["alg EdDSA, with its key", edSigned, "malformed"],
    ["alg EdDSA, signed with the secret", token({}, { alg: "EdDSA" }), "malformed"],
    ["alg HS512", seal(inputOf({}, { alg: "HS512" }), CURRENT, "sha512"), "malformed"],
    ["alg in another case", token({}, { alg: "hs256" }), "malformed"],
    ["alg that is a list", token({}, { alg: ["HS256"] }), "malformed"],
    ["no alg", token({}, { alg: undefined }), "malformed"],
    ["the name alg in another case", token({}, { alg: undefined, ALG: "HS256" }), "malformed"],
    ["typ JWT", token({}, { typ: "JWT" }), "malformed"],
    ["no typ", token({}, { typ: undefined }), "malformed"],
    ["critical extensions", token({}, { crit: ["b64"], b64: false }), "malformed"],
    ["a key brought along", token({}, { jwk: brought }, FOREIGN), "signature"],
    ["a header that is not JSON", token({}, "{alg:HS256}"), "malformed"],
    ["a header that is an array", token({}, "[]"), "malformed"],
    ["a header that is null", token({}, "null"), "malformed"],
    ["a header of many levels", token("{}", "[".repeat(2_900)), "malformed"],
  ];
}

function signatureRows(): readonly Row[] {
  const input = inputOf();
  const [head = "", body = "", signature = ""] = seal(input).split(".");
  const octets = Buffer.from(signature, "base64url");
  const signedBy = (other: Uint8Array): string =>
    `${input}.${Buffer.from(other).toString("base64url")}`;
  const flipped = (at: number): string => {
    const other = Uint8Array.from(octets);
    other[at] = (other[at] ?? 0) ^ 1;
    return signedBy(other);
  };
  const changed = encode(claimsOf({ rsn: "allowed" }));
  const [, , another = ""] = token().split(".");
  const random = Buffer.from(CURRENT.slice("gp_sign_".length), "base64url");
  return [
    ["the secret of another account", token({}, {}, FOREIGN), "signature"],
    ["the octets behind the secret's prefix as the key", seal(input, random), "signature"],
    ["an empty secret", seal(input, ""), "signature"],
    ["the account's id as the secret", seal(input, ACCOUNT), "signature"],
    ["changed claims", `${head}.${changed}.${signature}`, "signature"],
    ["a changed header", `${encode({ alg: "HS256", typ: "gatepost+jwt", x: 1 })}.${body}.${signature}`, "signature"], // prettier-ignore
    ["the signature of another token", `${input}.${another}`, "signature"],
    ["the first bit changed", flipped(0), "signature"],
    ["the last octet changed", flipped(31), "signature"],
    ["a signature of zeros", signedBy(Buffer.alloc(32)), "signature"],
    ["a signature cut by an octet", signedBy(octets.subarray(0, 31)), "signature"],
    ["a signature cut to an octet", signedBy(octets.subarray(0, 1)), "signature"],
    ["a signature with an octet more", signedBy(Buffer.concat([octets, Buffer.alloc(1)])), "signature"], // prettier-ignore
    ["the hash of the input as the signature", signedBy(createHash("sha256").update(input).digest()), "signature"], // prettier-ignore
  ];
}

function claimRows(): readonly Row[] {
  const once = token();
  return [
    ["the second it ends", token(), "expired", { now: NOW + 595 }],
    ["an hour later", token(), "expired", { now: NOW + 3_600 }],
    ["no exp", token({ exp: undefined }), "malformed"],
    ["exp as text", token({ exp: String(NOW + 595) }), "malformed"],
    ["exp true", token({ exp: true }), "malformed"],
    ["exp null", token({ exp: null }), "malformed"],
    ["exp of a fraction", token({ exp: NOW + 0.5 }), "malformed"],
    ["exp below zero", token({ exp: -1 }), "expired"],
    ["another account", token({ aud: "f".repeat(32) }), "account"],
    ["no account", token({ aud: undefined }), "account"],
    ["a list with the account", token({ aud: [ACCOUNT] }), "account"],
    ["another form", token({ form: "newsletter" }), "form", { form: "join" }],
    ["no form where one is expected", token(), "form", { form: "join" }],
    ["another address", token(), "address", { email: "jo@mailinator.com" }],
    ["the address in another case", token(), "address", { email: "Jo@good.example" }],
    ["no address", token(), "address", { email: "" }],
    ["a NUL after the address", token(), "address", { email: `${EMAIL}\0` }],
    ["the address itself as sub", token({ sub: EMAIL }), "address"],
    ["no sub", token({ sub: undefined }), "address"],
    ["no id", token({ jti: undefined }), "malformed"],
    ["an empty id", token({ jti: "" }), "malformed"],
    ["an id with a line end", token({ jti: `${"a".repeat(32)}\n` }), "malformed"],
    ["no cpl", token({ cpl: undefined }), "malformed"],
    ["claims that are an array", token("[]"), "malformed"],
    ["claims that are not JSON", token("{"), "malformed"],
    ["claims that are null", token("null"), "malformed"],
    ["a token used once", once],
    ["the same token again", once, "replayed"],
  ];
}

/** At least 40 changed tokens, and some good ones. */
export function tokenTable(): TokenTable {
  count = 0;
  const rows = [goodRows, shapeRows, headerRows, signatureRows, claimRows].flatMap((of) => of());
  return {
    secrets: [CURRENT, OLD],
    account: ACCOUNT,
    cases: rows.map(([name, token, fault, { email = EMAIL, now = NOW, form } = {}]) => ({
      name,
      token,
      email,
      now,
      ...(form === undefined ? {} : { form }),
      ...(fault === undefined ? {} : { fault }),
    })),
  };
}
