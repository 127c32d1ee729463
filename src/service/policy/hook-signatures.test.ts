import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Authenticate,
  fusionAuthSignature,
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
