import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { createSecretBox } from "../../../adapters/system/secrets.ts";
import { GATE_KEY, gateWorld } from "../../../../test/policy/gate-world.ts";
import { KNOWN, ask } from "../../../../test/policy/asked-decision.ts";

const EMAIL = { email: "jo@good.example" };

interface Parts {
  readonly head: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly isSignedBy: (secret: string) => boolean;
}

function partsOf(token = ""): Parts {
  const [head = "", body = "", signature = ""] = token.split(".");
  const read = (part: string): Parts["claims"] =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Parts["claims"];
  const isSignedBy = (secret: string): boolean =>
    createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url") === signature;
  return { head: read(head), claims: read(body), isSignedBy };
}

test("a token is signed for its account alone, names the key and tells no address", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id, apiKey } = await world.account("jo@shop.example");
  const secret = await world.tokens.renewSecret(id);
  assert.match(secret, /^gp_sign_[A-Za-z0-9_-]{43}$/);
  const payload = { email: " jo@bad.example\u00A0", token: "1", form: "sign-up" };
  const { answer } = await ask(world, payload, { "x-api-key": apiKey });
  const { head, claims, isSignedBy } = partsOf(answer.token);
  assert.deepEqual(head, { alg: "HS256", typ: "gatepost+jwt" });
  assert.ok(isSignedBy(secret));
  const { iat, exp, jti, ...said } = claims;
  assert.equal(Number(exp) - Number(iat), 600);
  assert.match(String(jti), /^[0-9a-f]{32}$/);
  const [key] = await world.store.keys.list(id);
  assert.deepEqual(said, {
    iss: "https://gatepost.example",
    aud: id,
    sub: "WK8Pk5D5Ib4oUc-1xYhHOxI5WTka_JUtOYxPh2eo7gQ",
    dec: "reject",
    rsn: "disposable",
    pol: "default@1",
    key: key?.id,
    form: "sign-up",
    cpl: true,
  });
  const next = await world.tokens.renewSecret(id);
  const again = partsOf((await ask(world, payload, { "x-api-key": apiKey })).answer.token);
  assert.deepEqual([again.isSignedBy(secret), again.isSignedBy(next)], [false, true]);
  const other = await world.account("eve@other.example");
  const foreign = await ask(world, payload, { "x-api-key": other.apiKey });
  assert.ok(!partsOf(foreign.answer.token).isSignedBy(next));
  const rows = await world.store.sql.db.selectFrom("accounts").selectAll().execute();
  assert.doesNotMatch(JSON.stringify(rows), /gp_sign_/);
});

test("the secret is made on first use, once for calls at the same moment", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id, apiKey } = await world.account("jo@shop.example");
  const payload = { ...EMAIL, token: true };
  const asked = Array.from({ length: 4 }, () => ask(world, payload, { "x-api-key": apiKey }));
  for (const { answer } of await Promise.all(asked)) assert.ok(answer.token);
  const account = await world.store.accounts.find(id);
  const opened = createSecretBox(GATE_KEY).open(account?.tokenSecret ?? "", `token secret ${id}`);
  const { token } = (await ask(world, payload, { "x-api-key": apiKey })).answer;
  assert.ok(opened !== undefined && partsOf(token).isSignedBy(opened));
});

test("no token without a key, and none while nobody can say who asks", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const payload = { ...EMAIL, token: true };
  assert.equal((await ask(world, payload)).answer.token, undefined);
  const { apiKey } = await world.account("jo@shop.example");
  const changed = await world.store.sql.db
    .updateTable("accounts")
    .set({ token_secret: "x" })
    .execute();
  assert.equal(changed.length, 1);
  const unreadable = await ask(world, payload, { "x-api-key": apiKey });
  assert.deepEqual([unreadable.status, unreadable.answer.token], [200, undefined]);
  const away = { holder: () => new Promise<never>(() => undefined) };
  const late = await gateWorld(t, { ...KNOWN, keys: (keys) => ({ ...keys, ...away }) });
  const known = await late.account("jo@shop.example");
  const asked = { ...payload, deadline_ms: 50 };
  const { status, answer } = await ask(late, asked, { "x-api-key": known.apiKey });
  assert.deepEqual([status, answer.token], [200, undefined]);
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
