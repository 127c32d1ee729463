import assert from "node:assert/strict";
import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import {
  type Authenticate,
  fusionAuthSignature,
  sharedSecret,
  standardWebhooks,
  zitadelSignature,
} from "./hook-signatures.ts";

const AT_MS = 1_732_262_400_000;

/** Computed with the systems' own tools. */
const VECTORS: readonly [
  name: string,
  how: Authenticate,
  secret: string,
  body: string,
  headers: Record<string, string>,
][] = [
  [
    "Supabase",
    standardWebhooks,
    "v1,whsec_Z2F0ZXBvc3QtdGVzdC1zZWNyZXQtMzItYnl0ZXMtb2s=",
    '{"metadata":{"uuid":"8b34dcdd-9df1-4c10-850a-b3277c653040","time":"2025-04-29T13:13:24.755552-07:00","name":"before-user-created","ip_address":"127.0.0.1"},"user":{"email":"jo@mailinator.com"}}',
    {
      "webhook-id": "11111111-2222-4333-8444-555555555555",
      "webhook-timestamp": "1732262400",
      "webhook-signature": "v1,AAAA, v1,iZZ1N6gCevLYWOaXbp9UxKRxERhDuMdOLSBphnf8ilg=",
    },
  ],
  [
    "ZITADEL",
    zitadelSignature,
    "somekey",
    '{"fullMethod":"/zitadel.user.v2.UserService/CreateUser","request":{"human":{"email":{"email":"jo@mailinator.com"}}}}',
    {
      "zitadel-signature":
        "t=1732262400,v1=00,v1=8d0b4325f98b0203a05eb79026df857d55470acfca20f9ae92b67d16fd11c7b3",
    },
  ],
  [
    "FusionAuth",
    fusionAuthSignature,
    "gatepost-hmac-secret",
    '{"event":{"type":"user.create","user":{"email":"jo@mailinator.com"}}}',
    {
      "x-fusionauth-signature-jwt":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJyZXF1ZXN0X2JvZHlfc2hhMjU2IjoiWXIreXAwSE1Zck1hUkgxeGNIMjlLOXF3bDUxa0JuaEpxLzBxdTYrZytXYz0ifQ.gduHOqmQqsYnpxiQVyKHn5ZEzL6EZibndbeYBjTU3Pg",
    },
  ],
];

for (const [name, how, secret, body, headers] of VECTORS) {
  const verify = (more: Partial<{ secret: string; body: string; nowMs: number }> = {}) => {
    const keys = { secret: more.secret ?? secret, nowMs: more.nowMs ?? AT_MS };
    const request = { body: Buffer.from(more.body ?? body), headers };
    return how(request, { ...keys, jwks: () => Promise.resolve([]) });
  };
  test(`${name}: the recorded call verifies, a changed one does not`, async () => {
    assert.equal(await verify(), undefined);
    assert.notEqual(await verify({ body: `${body}\n` }), undefined);
    assert.notEqual(await verify({ secret: "whsec_AAAA" }), undefined);
    if (name === "FusionAuth") return;
    assert.equal(await verify({ nowMs: AT_MS + 299_000 }), undefined);
    assert.notEqual(await verify({ nowMs: AT_MS + 301_000 }), undefined);
    assert.notEqual(await verify({ nowMs: AT_MS - 301_000 }), undefined);
  });
}

const standard = VECTORS[0];
const without = (name: string) => (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
const STANDARD_HEADERS: readonly [
  name: string,
  change: (headers: Record<string, string>) => Record<string, string>,
  isTaken: boolean,
][] = [
  ["without webhook-id", without("webhook-id"), false],
  ["with an empty webhook-id", (headers) => ({ ...headers, "webhook-id": "" }), false],
  ["with another webhook-id", (headers) => ({ ...headers, "webhook-id": "x" }), false],
  ["without a timestamp", without("webhook-timestamp"), false],
  ["with a timestamp twice", (headers) => ({ ...headers, "webhook-timestamp": "1, 1" }), false],
  ["with a fraction", (headers) => ({ ...headers, "webhook-timestamp": "1732262400.0" }), false],
  ["without a signature", without("webhook-signature"), false],
  [
    "under Svix's names",
    (headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.replace("webhook", "svix"), value]),
      ),
    true,
  ],
  [
    "with several signatures and blanks",
    (headers) => ({
      ...headers,
      "webhook-signature": `v1a,AA v1,BB ${headers["webhook-signature"]?.slice(9) ?? ""}`,
    }),
    true,
  ],
  [
    "with a signature of another version",
    (headers) => ({
      ...headers,
      "webhook-signature": headers["webhook-signature"]?.replaceAll("v1,", "v2,") ?? "",
    }),
    false,
  ],
];

for (const [name, change, isTaken] of STANDARD_HEADERS) {
  test(`Standard Webhooks: a call ${name} is ${isTaken ? "taken" : "refused"}`, async () => {
    assert.ok(standard !== undefined);
    const [, , secret, body, headers] = standard;
    const request = { body: Buffer.from(body), headers: change(headers) };
    const jwks = () => Promise.resolve([]);
    const wrong = await standardWebhooks(request, { secret, nowMs: AT_MS, jwks });
    assert.equal(wrong === undefined, isTaken, wrong);
  });
}

test("a secret that is no key lets nothing in, also not a call signed with nothing", async () => {
  const body = '{"email":"jo@mailinator.com"}';
  const signature = createHmac("sha256", "").update(`m1.1732262400.${body}`).digest("base64");
  const headers = {
    "webhook-id": "m1",
    "webhook-timestamp": "1732262400",
    "webhook-signature": `v1,${signature}`,
  };
  const request = { body: Buffer.from(body), headers };
  const keys = { secret: "whsec_!!!!", nowMs: AT_MS, jwks: () => Promise.resolve([]) };
  assert.notEqual(await standardWebhooks(request, keys), undefined);
});

const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;

for (const [name, headers, isTaken] of [
  ["a Bearer token", { authorization: "Bearer the-secret" }, true],
  ["another case of the scheme", { authorization: "bearer  the-secret" }, true],
  ["a password", { authorization: basic("gatepost:the-secret") }, true],
  ["a user name alone", { authorization: basic("the-secret") }, true],
  ["the secret as user name", { authorization: basic("the-secret:other") }, false],
  ["X-Api-Key", { "x-api-key": "the-secret" }, true],
  ["the bare secret", { authorization: "the-secret" }, true],
  ["the start of it", { authorization: "Bearer the-secre" }, false],
  ["an empty token", { authorization: "Bearer ", "x-api-key": "" }, false],
  ["nothing", {}, false],
] as const) {
  test(`a shared secret by ${name} is ${isTaken ? "taken" : "refused"}`, async () => {
    const request = { body: Buffer.from("{}"), headers };
    const keys = { secret: "the-secret", nowMs: AT_MS, jwks: () => Promise.resolve([]) };
    assert.equal((await sharedSecret(request, keys)) === undefined, isTaken);
  });
}

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const RSA_KEY = { ...rsa.publicKey.export({ format: "jwk" }), kid: "k1" };
const jws = (head: object, claims: object, key: typeof rsa.privateKey): string => {
  const parts = [head, claims].map((one) => Buffer.from(JSON.stringify(one)).toString("base64url"));
  const input = parts.join(".");
  return `${input}.${sign("sha256", Buffer.from(input), key).toString("base64url")}`;
};
const FUSION_BODY = '{"event":{"type":"user.create"}}';
const HASH = createHash("sha256").update(FUSION_BODY).digest("base64");
const SIGNED = { request_body_sha256: HASH };

const at = (claims: Record<string, number | string>): string =>
  jws({ alg: "RS256" }, { ...SIGNED, ...claims }, rsa.privateKey);
const AT_S = AT_MS / 1_000;
const TIMED = (
  [
    ["a time of now", { iat: AT_S, exp: AT_S + 60 }, true],
    ["a time 6 minutes ago", { iat: AT_S - 360 }, false],
    ["a time in 6 minutes", { iat: AT_S + 360 }, false],
    ["an end that has passed", { iat: AT_S - 200, exp: AT_S - 100 }, false],
    ["a beginning in 6 minutes", { nbf: AT_S + 360 }, false],
    ["a time that is no number", { iat: "now" }, false],
  ] as const
).map(([name, claims, isTaken]) => [name, at(claims), [RSA_KEY], isTaken] as const);

for (const [name, token, keys, isTaken] of [
  ["a public key", jws({ alg: "RS256", kid: "k1" }, SIGNED, rsa.privateKey), [RSA_KEY], true],
  ["another kid", jws({ alg: "RS256", kid: "k2" }, SIGNED, rsa.privateKey), [RSA_KEY], false],
  ["no keys", jws({ alg: "RS256", kid: "k1" }, SIGNED, rsa.privateKey), [], false],
  [
    "a key of another kind",
    jws({ alg: "RS256" }, SIGNED, rsa.privateKey),
    [{ kty: "oct", k: "AA" }],
    false,
  ],
  ["alg none", `${jws({ alg: "none" }, SIGNED, rsa.privateKey)}`, [RSA_KEY], false],
  [
    "no signature",
    jws({ alg: "RS256" }, SIGNED, rsa.privateKey).replace(/[^.]+$/, ""),
    [RSA_KEY],
    false,
  ],
  ["claims without the hash", jws({ alg: "RS256" }, {}, rsa.privateKey), [RSA_KEY], false],
  ...TIMED,
  ["no JWS", "x", [RSA_KEY], false],
  ["a header that is no object", "bnVsbA.bnVsbA.AA", [RSA_KEY], false],
] as const) {
  test(`FusionAuth: a token with ${name} is ${isTaken ? "taken" : "refused"}`, async () => {
    const headers = { "x-fusionauth-signature-jwt": token };
    const request = { body: Buffer.from(FUSION_BODY), headers };
    const given = { secret: "the-secret", nowMs: AT_MS, jwks: () => Promise.resolve(keys) };
    assert.equal((await fusionAuthSignature(request, given)) === undefined, isTaken);
  });
}
