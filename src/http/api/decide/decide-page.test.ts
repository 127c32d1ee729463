import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { gateWorld } from "../../../../test/policy/gate-world.ts";
import { KNOWN, ask } from "../../../../test/policy/asked-decision.ts";

const EMAIL = { email: "jo@good.example" };

test("a token verifies with the published key and tells no address", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const payload = { email: " jo@bad.example ", token: "1", form: "sign-up" };
  const { answer } = await ask(world, payload);
  const [head = "", body = "", signature = ""] = (answer.token ?? "").split(".");
  const read = (part: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  const { alg, kid, typ } = read(head);
  assert.deepEqual([alg, typ], ["EdDSA", "gatepost+jwt"]);
  await world.tokens.rotate(); // the old key is published for a day
  const { keys } = await world.tokens.jwks();
  const jwk = keys.find((one) => one["kid"] === kid) ?? assert.fail();
  assert.equal("d" in jwk, false);
  const key = createPublicKey({ key: jwk, format: "jwk" });
  assert.ok(verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url")));
  const claims = read(body);
  assert.deepEqual(Object.keys(claims), [
    "iss",
    "iat",
    "exp",
    "jti",
    "sub",
    "dom",
    "dec",
    "rsn",
    "pol",
    "form",
    "cpl",
  ]);
  assert.equal(claims["sub"], "WK8Pk5D5Ib4oUc-1xYhHOxI5WTka_JUtOYxPh2eo7gQ");
});

test("a publishable key works from its origins alone and sees neither result nor mailbox", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id } = await world.account("jo@shop.example");
  const made = await world.store.keys.create(id, "page", ["https://shop.example"]);
  assert.ok(made.kind === "created");
  assert.match(made.apiKey, /^gp_pub_[0-9A-Za-z]{40}$/);
  const key = { "x-api-key": made.apiKey };
  for (const origin of [
    undefined,
    "https://evil.example",
    "http://shop.example",
    "https://shop.example:8443",
    "null",
  ]) {
    const { status } = await ask(world, EMAIL, { ...key, ...(origin && { origin }) });
    assert.equal(status, 403, origin);
  }
  const from = { ...key, origin: "https://shop.example" };
  const { status, answer, headers } = await ask(world, { email: "jo@bad.example" }, from);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(answer), [
    "decision",
    "reason",
    "message",
    "complete",
    "policy",
    "token",
  ]);
  assert.equal(headers["x-ratelimit-limit"], "30", "of the client address");
  const elsewhere = await world.app.inject({ url: "/api/email/a@b.example", headers: from });
  assert.equal(elsewhere.statusCode, 403);
  await world.flush();
  const [row] = await world.outcomes.ofAccount(id, 0);
  assert.deepEqual([row?.keyId, row?.decision], [made.key.id, "reject"]);
});
