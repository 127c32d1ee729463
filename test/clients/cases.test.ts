import assert from "node:assert/strict";
import { test } from "node:test";
import { verifySignature } from "../../src/main/library.ts";
import { readPocket } from "../lists/read-pocket.ts";
import { CLIENT_CASES } from "./cases.ts";
import { tokenTable } from "./token-cases.ts";

const { pocket, tokens, webhooks } = CLIENT_CASES;

test("the tables of tokens, webhooks and pocket lists agree with the reference", () => {
  const names = ({ cases }: ReturnType<typeof tokenTable>): unknown =>
    cases.map(({ name, fault }) => [name, fault]);
  assert.deepEqual(names(tokens), names(tokenTable()));
  for (const { name, body, signature, secret, valid } of webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(verifySignature(octets, signature ?? undefined, secret), valid, name);
  }
  const list = readPocket(Buffer.from(pocket.file, "base64"));
  const domainOf = (email: string): string =>
    email.slice(email.lastIndexOf("@") + 1).replace(/\.$/, "");
  for (const email of pocket.listed) assert.ok(list.has(domainOf(email)), email);
  for (const email of pocket.not_listed) assert.ok(!list.has(domainOf(email)), email);
});
