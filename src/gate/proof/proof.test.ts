import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import {
  ADDRESS,
  BROWSER_KEYS,
  DELEGATED,
  ISSUER_KEYS,
  issuerWorld,
  jwkOf,
  KEYS,
  METADATA,
  OTHER_KEYS,
  type Pieces,
  piecesFor,
  reply,
  tokenOf,
} from "../../../test/proof/issuer.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";

for (const alg of ["EdDSA", "ES256", "RS256"] as const) {
  test(`a token signed by ${alg} proves the mailbox`, async () => {
    const { verify, asked } = issuerWorld();
    assert.deepEqual(await verify(tokenOf(piecesFor(alg))), { verified: "yes", isPrivate: false });
    assert.deepEqual(asked, [METADATA, KEYS]);
  });
}

const GOOD = piecesFor();
const claims = (more: object): Partial<Pieces> => ({
  claims: { ...Object(GOOD.claims), ...more },
});
const binding = (more: object): Partial<Pieces> => ({ binding: { ...GOOD.binding, ...more } });
const head = (more: object): Partial<Pieces> => ({ head: { ...GOOD.head, ...more } });
const bindingHead = (more: object): Partial<Pieces> => ({
  bindingHead: { ...GOOD.bindingHead, ...more },
});
const whole = (change: Pieces["whole"]): Partial<Pieces> => ({ whole: change });
const iat = Number(GOOD.binding["iat"]);
const b64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

test("what a good token may differ in", async () => {
  const { verify } = issuerWorld();
  const fine: readonly (readonly [Partial<Pieces>, boolean])[] = [
    [claims({ is_private_email: true }), true],
    [claims({ is_private_email: "true" }), false],
    [claims({ email: "jO@MAIL.example" }), false],
    [claims({ iat: iat - 300 }), false],
    [binding({ iat: iat + 300 }), false],
    [claims({ cnf: { jwk: { ...jwkOf(BROWSER_KEYS.EdDSA), use: "sig", alg: "EdDSA" } } }), false],
  ];
  for (const [change, isPrivate] of fine) {
    const token = tokenOf({ ...GOOD, ...change });
    assert.deepEqual(await verify(token), { verified: "yes", isPrivate });
  }
  assert.equal((await verify(tokenOf(GOOD), { text: ` ${ADDRESS}\n` })).verified, "yes");
});

const HOSTILE: readonly (readonly [name: string, change: Partial<Pieces>])[] = [
  ["nothing", whole(() => "x")],
  ["no tilde", whole((token) => token.replace("~", ""))],
  ["two tildes", whole((token) => token.replace("~", "~~"))],
  ["a tilde at the end", whole((token) => `${token}~`)],
  ["the issuer's half alone", whole((token) => token.replace(/~.*/, "~"))],
  ["the browser's half alone", whole((token) => token.replace(/.*~/, "~"))],
  ["its halves swapped", whole((token) => token.split("~").reverse().join("~"))],
  ["padding", whole((token) => `${token}=`)],
  ["a blank at the end", whole((token) => `${token} `)],
  ["a fourth part", whole((token) => `${token}.AA`)],
  ["no signature of the browser", whole((token) => token.replace(/\.[^.]*$/, "."))],
  ["another signature of the browser", whole((token) => token.replace(/.{20}$/, "A".repeat(20)))],
  ["an issuer's head that is no JSON", { sealed: (evt) => evt.replace(/^[^.]*/, "e30x") }],
  ["claims that are no object", { claims: "[]" }],
  ["claims changed after they were signed", { sealed: changed }],
  ["algorithm none", { ...head({ alg: "none" }) }],
  ["the public key as a secret", { sealed: signedWithPublicKey }],
  ["an algorithm of no list", head({ alg: "ES384" })],
  ["the algorithm of another key", head({ alg: "ES256" })],
  ["another type", head({ typ: "JWT" })],
  ["no type", head({ typ: undefined })],
  ["the browser's type", head({ typ: "kb+jwt" })],
  ["no key id", head({ kid: undefined })],
  ["an unknown key id", head({ kid: "k9" })],
  ["the key id of another key", head({ kid: "ES256" })],
  ["a critical header that nobody knows", head({ crit: ["x"], x: 1 })],
  ["an unencoded payload", head({ b64: false })],
  ["an unencoded payload that is critical", head({ crit: ["b64"], b64: true })],
  ["no critical header", head({ crit: [] })],
  ["a critical header of the browser", bindingHead({ crit: ["b64"], b64: true })],
  ["another issuer's signature", { issuer: OTHER_KEYS }],
  ["the browser's signature for the issuer's", { issuer: BROWSER_KEYS.EdDSA }],
  ["another issuer", claims({ iss: "other.example" })],
  ["an issuer as a URL", claims({ iss: "https://issuer.example" })],
  ["an issuer in capitals", claims({ iss: "ISSUER.example" })],
  ["no issuer", claims({ iss: undefined })],
  ["no time", claims({ iat: undefined })],
  ["a time as text", claims({ iat: String(iat) })],
  ["a time 301 s ago", claims({ iat: iat - 301 })],
  ["a time in 301 s", claims({ iat: iat + 301 })],
  ["no key of the browser", claims({ cnf: undefined })],
  ["a key that is null", claims({ cnf: { jwk: null } })],
  ["another key of the browser", claims({ cnf: { jwk: jwkOf(OTHER_KEYS) } })],
  ["a private key of the browser", claims({ cnf: { jwk: privateJwk() } })],
  ["a secret as the browser's key", claims({ cnf: { jwk: { kty: "oct", k: "AAAA" } } })],
  ["a key for encryption", claims({ cnf: { jwk: { ...jwkOf(BROWSER_KEYS.EdDSA), use: "enc" } } })],
  ["another address", claims({ email: "al@mail.example" })],
  ["an address with a detail", claims({ email: "Jo+x@mail.example" })],
  ["an address of another domain", claims({ email: "Jo@mail.example.org" })],
  ["a list of addresses", claims({ email: [ADDRESS] })],
  ["no address", claims({ email: undefined })],
  ["an address that is not verified", claims({ email_verified: false })],
  ["one that is verified in words", claims({ email_verified: "true" })],
  ["one of which nothing is said", claims({ email_verified: undefined })],
  ["the browser's type as JWT", bindingHead({ typ: "JWT" })],
  ["the issuer's type for the browser's", bindingHead({ typ: "evt+jwt" })],
  ["the browser's algorithm none", bindingHead({ alg: "none" })],
  ["the browser's algorithm of another key", bindingHead({ alg: "ES256" })],
  ["another signer for the browser", { browser: OTHER_KEYS }],
  ["another page", binding({ aud: "https://evil.example" })],
  ["the page with a slash", binding({ aud: "https://shop.example/" })],
  ["a list of pages", binding({ aud: ["https://shop.example"] })],
  ["no page", binding({ aud: undefined })],
  ["another nonce", binding({ nonce: "n" })],
  ["no nonce", binding({ nonce: undefined })],
  ["an old time of the browser", binding({ iat: iat - 301 })],
  ["no time of the browser", binding({ iat: undefined })],
  ["the hash of another token", { hashed: () => "another" }],
  ["the hash without its tilde", { hashed: (evt) => evt }],
  ["no hash", binding({ sd_hash: undefined })],
];

function changed(evt: string): string {
  const [first = "", , last = ""] = evt.split(".");
  return [first, b64({ ...Object(GOOD.claims), is_private_email: true }), last].join(".");
}

function signedWithPublicKey(evt: string): string {
  const input = `${b64({ ...GOOD.head, alg: "HS256" })}.${evt.split(".")[1] ?? ""}`;
  const secret = ISSUER_KEYS.EdDSA.publicKey.export({ format: "pem", type: "spki" });
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}

function privateJwk(): object {
  return BROWSER_KEYS.EdDSA.privateKey.export({ format: "jwk" });
}

test(`${String(HOSTILE.length)} hostile tokens, each one change of a good one, prove nothing`, async () => {
  const { verify } = issuerWorld();
  assert.ok(HOSTILE.length >= 40);
  assert.equal((await verify(tokenOf(GOOD))).verified, "yes");
  for (const [name, change] of HOSTILE) {
    assert.equal((await verify(tokenOf({ ...GOOD, ...change }))).verified, "no", name);
  }
});

test("a token is for one nonce, one page and one address", async () => {
  const { verify } = issuerWorld();
  const token = tokenOf(GOOD);
  for (const more of [
    { nonce: "another" },
    { origin: "https://evil.example" },
    { text: "al@mail.example" },
    { text: "Jo@" },
    { text: '"Jo"@mail.example' },
  ]) {
    assert.equal((await verify(token, more)).verified, "no", JSON.stringify(more));
  }
});

const small = generateKeyPairSync("rsa", { modulusLength: 1_024 });
const jwks = reply({
  keys: Object.entries(ISSUER_KEYS).map(([kid, pair]) => ({ ...jwkOf(pair), kid })),
});
const keySet = (more: object) => ({
  [KEYS]: reply({ keys: [{ ...jwkOf(ISSUER_KEYS.EdDSA), kid: "EdDSA", ...more }] }),
});
const txt = (...records: string[]) => ({ "_email-verification.mail.example": { txt: records } });

const PUBLISHED: readonly (readonly [
  name: string,
  issuer: Parameters<typeof issuerWorld>[0],
  want: string,
])[] = [
  ["no delegation", { zone: {} }, "no"],
  ["other texts alone", { zone: txt("v=spf1 -all", "ISS=issuer.example") }, "no"],
  ["two delegations", { zone: txt("iss=issuer.example", "iss=issuer.example") }, "no"],
  ["another issuer", { zone: txt("iss=other.example") }, "no"],
  ["a delegation with a path", { zone: txt("iss=issuer.example/x") }, "no"],
  ["an empty delegation", { zone: txt("iss=") }, "no"],
  ["DNS that fails", { lookup: { txt: () => ({ kind: "unknown", why: "servfail" }) } }, "unknown"],
  ["a set without the key", { documents: { [KEYS]: reply({ keys: [] }) } }, "no"],
  ["another key under its id", { documents: keySet(jwkOf(OTHER_KEYS)) }, "no"],
  ["a key of another algorithm", { documents: keySet({ alg: "ES256" }) }, "no"],
  ["a key for encryption", { documents: keySet({ use: "enc" }) }, "no"],
  ["a set with rubbish in it", { documents: { [KEYS]: reply({ keys: [5, null, "x"] }) } }, "no"],
];

const FAULTS = {
  "cannot be reached": { ok: false, fault: "unreachable" },
  "is in a private network": { ok: false, fault: "not_public" },
  "has a wrong certificate": { ok: false, fault: "tls" },
  "is late": { ok: false, fault: "timeout" },
  "sends us on": reply("", 302),
  "knows nothing": reply("", 404),
  fails: reply("", 500),
  "sends 64 KB and one octet": reply({}, 200, true),
  "sends no JSON": reply("<html>"),
  "sends other JSON": reply([1]),
  "sends null": reply("null"),
} as const;

for (const [name, issuer, want] of PUBLISHED) {
  test(`${name}: ${want}`, async () => {
    const { verify } = issuerWorld(issuer);
    assert.equal((await verify(tokenOf(GOOD))).verified, want);
  });
}

for (const [what, answer] of Object.entries(FAULTS)) {
  for (const url of [METADATA, KEYS]) {
    test(`a server that ${what} says nothing: ${url}`, async () => {
      const { verify, wait, asked } = issuerWorld({ documents: { [url]: answer } });
      for (let call = 0; call < 3; call += 1) {
        assert.equal((await verify(tokenOf(GOOD))).verified, "unknown");
      }
      assert.equal(asked.filter((one) => one === url).length, 1, "remembered for a minute");
      wait(60_000);
      await verify(tokenOf(GOOD));
      assert.equal(asked.filter((one) => one === url).length, 2);
    });
  }
}

test("keys that are not at an https address are never fetched", async () => {
  const documents = { [METADATA]: reply({ jwks_uri: "http://keys.example/jwks.json" }) };
  const { verify, asked } = issuerWorld({ documents });
  assert.equal((await verify(tokenOf(GOOD))).verified, "unknown");
  assert.deepEqual(asked, [METADATA]);
});

test("an RSA key of 1,024 bits signs nothing", async () => {
  const issuer = small;
  const rsa = piecesFor("RS256");
  const { verify } = issuerWorld({
    documents: { [KEYS]: reply({ keys: [{ ...jwkOf(small), kid: "RS256" }] }) },
  });
  assert.equal((await verify(tokenOf({ ...rsa, issuer }))).verified, "no");
});

test("a token that the browser did not sign makes nobody ask anybody", async () => {
  const lookup = zoneLookup(DELEGATED);
  const { verify, asked } = issuerWorld({ lookup });
  await verify(tokenOf({ ...GOOD, browser: OTHER_KEYS }));
  assert.deepEqual([asked, lookup.asked], [[], []]);
});

test("tokens with unknown key ids fetch the keys once a minute, and one at a time", async () => {
  const { verify, asked, wait, most } = issuerWorld();
  const browsers = { ...GOOD, sealed: (evt: string) => evt.replace(/[^.]*$/, "AA") };
  for (let round = 0; round < 3; round += 1) {
    const tokens = Array.from({ length: 100 }, (_, at) =>
      tokenOf({ ...browsers, ...head({ kid: `k${String(round * 100 + at)}` }) }),
    );
    const proofs = await Promise.all(tokens.map((token) => verify(token)));
    assert.ok(proofs.every(({ verified }) => verified === "no"));
  }
  assert.deepEqual([asked, most()], [[METADATA, KEYS], 1]);
  wait(60_000);
  await verify(tokenOf({ ...GOOD, ...head({ kid: "k" }) }));
  assert.deepEqual(asked, [METADATA, KEYS, KEYS]);
});

test("keys stay for an hour while their server fails, but what they lack is unknown then", async () => {
  const { verify, wait, publish } = issuerWorld();
  const verified = async (pieces: Partial<Pieces> = {}): Promise<string> =>
    (await verify(tokenOf({ ...GOOD, ...pieces }))).verified;
  assert.equal(await verified(), "yes");
  assert.equal(await verified(head({ kid: "new" })), "no");
  publish(KEYS, reply("", 500));
  wait(60_000);
  assert.equal(await verified(head({ kid: "new" })), "unknown");
  wait(3_539_000);
  assert.equal(await verified(), "yes");
  wait(2_000);
  assert.equal(await verified(), "unknown");
});

/** An issuer of its own whose metadata names somebody else's host. */
function evilIssuer(name: string, path: string) {
  const domain = `mail.${name}`;
  const pieces = { ...GOOD, ...claims({ iss: name, email: `Jo@${domain}` }) };
  return {
    zone: { [`_email-verification.${domain}`]: { txt: [`iss=${name}`] } },
    documents: {
      [`https://${name}/.well-known/email-verification`]: reply({
        jwks_uri: `https://keys.example/${path}`,
      }),
    },
    token: tokenOf(pieces),
    text: `Jo@${domain}`,
  };
}

test("an issuer that names another's host makes it fail for itself alone, at once and at the same address", async () => {
  for (const path of ["slow", "jwks.json"]) {
    const evil = evilIssuer("evil.org", path);
    const failing = { ok: false, fault: "timeout" } as const;
    const documents = { ...evil.documents, [`https://keys.example/${path}`]: failing };
    const { verify, publish } = issuerWorld({ zone: { ...DELEGATED, ...evil.zone }, documents });
    assert.equal((await verify(evil.token, { text: evil.text })).verified, "unknown");
    if (path === "jwks.json") publish(KEYS, jwks);
    assert.equal((await verify(tokenOf(GOOD))).verified, "yes", path);
  }
});
