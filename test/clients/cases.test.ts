import assert from "node:assert/strict";
import { test } from "node:test";
import { verifySignature } from "../../src/main/library.ts";
import { CLIENT_CASES } from "./cases.ts";
import { tokenTable } from "./token-cases.ts";

const { tokens, webhooks } = CLIENT_CASES;

test("the tables of tokens and webhooks agree with the reference", () => {
  const names = ({ cases }: ReturnType<typeof tokenTable>): unknown =>
    cases.map(({ name, fault }) => [name, fault]);
  assert.deepEqual(names(tokens), names(tokenTable()));
  for (const { name, body, signature, secret, valid } of webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(verifySignature(octets, signature ?? undefined, secret), valid, name);
  }
});
