import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { verifyWebhook } from "../../clients/typescript/src/webhook.ts";
import { verifySignature } from "../../src/webhooks/verify.ts";

const body = new TextEncoder().encode('{"event":"test.ping","data":"é"}');
const signature = createHmac("sha256", "key").update(body).digest("hex");

const text = new TextDecoder().decode(body);
const longer = Uint8Array.from([0, ...body, 0]);
const bodies: readonly (readonly [name: string, body: unknown, want: boolean | RegExp])[] = [
  ["text", text, true],
  ["a Buffer", Buffer.from(body), true],
  ["an ArrayBuffer", body.slice().buffer, true],
  ["a SharedArrayBuffer", sharedCopy(body), true],
  ["a DataView", new DataView(body.buffer, body.byteOffset, body.byteLength), true],
  ["a part of an array", longer.subarray(1, -1), true],
  ["one octet more", longer, false],
  ["nothing", new Uint8Array(), false],
  ["no body", undefined, false],
  ["null", null, false],
  ["an object", { event: "test.ping" }, /raw body/],
  ["an array", [1], /raw body/],
  ["a number", 5, /raw body/],
];

function sharedCopy(octets: Uint8Array): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(octets.length);
  new Uint8Array(shared).set(octets);
  return shared;
}

const VERIFIERS = { verifySignature, verifyWebhook } as const;

for (const [verifier, verify] of Object.entries(VERIFIERS)) {
  for (const [name, given, want] of bodies) {
    test(`${verifier}: a body that is ${name}`, async () => {
      const verified = async (): Promise<boolean> => verify(given as string, signature, "key");
      if (typeof want === "boolean") assert.equal(await verified(), want);
      else await assert.rejects(verified, (error) => error instanceof TypeError && want.test(error.message)); // prettier-ignore
    });
  }
  test(`${verifier}: without a secret or a signature nothing is signed`, async () => {
    for (const secret of [undefined, null, ""]) {
      assert.equal(await verify(body, signature, secret), false);
    }
    for (const header of [undefined, null, "", [signature], 5]) {
      assert.equal(await verify(body, header, "key"), false);
    }
  });
}
