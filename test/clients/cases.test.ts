import assert from "node:assert/strict";
import { test } from "node:test";
import { verifySignature } from "../../src/main/library.ts";
import { CLIENT_CASES } from "./cases.ts";

test("the clients' table of webhooks agrees with the service", () => {
  for (const { name, body, signature, secret, valid } of CLIENT_CASES.webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(verifySignature(octets, signature ?? undefined, secret), valid, name);
  }
});
