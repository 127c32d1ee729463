import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import { until } from "../../../test/time/until.ts";
import { PASSWORD } from "../../../test/dashboard/dashboard-world.ts";
import { askRaw } from "../../../test/http/raw-http.ts";
import { worldFor, EMAIL } from "../../../test/dashboard/account-world.ts";

test("signing up answers the same for a new and for a known address", async (t) => {
  const { world, browser } = await worldFor(t);
  await world.addAccount(EMAIL);
  const known = await browser.post("sign-up", { email: EMAIL, password: "something else 1" });
  const fresh = await browser.post("sign-up", { email: "new@x.example", password: PASSWORD });
  assert.deepEqual([known.status, known.text], [fresh.status, fresh.text]);
  assert.equal(fresh.status, 204);
  assert.equal((await browser.signIn(EMAIL, "something else 1")).status, 401, "nothing changed");
  assert.equal((await browser.signIn("NEW@x.example ", PASSWORD)).status, 204);
  const made = await world.store.accounts.find("new@x.example");
  assert.deepEqual([made?.tier, made?.origin, made?.isAdmin], ["free", "signup", false]);
  const allowance = (await browser.get("allowance")).json as { tier: string };
  assert.equal(allowance.tier, "new_free");
});

test("an address makes three accounts a day, known ones counted", async (t) => {
  const { world, browser } = await worldFor(t);
  await world.addAccount(EMAIL);
  for (const email of [EMAIL, "b@x.example", "c@x.example"]) {
    assert.equal((await browser.post("sign-up", { email, password: PASSWORD })).status, 204);
  }
  const fourth = await browser.post("sign-up", { email: "d@x.example", password: PASSWORD });
  assert.equal(fourth.status, 429);
  assert.equal(await world.store.accounts.find("d@x.example"), undefined);
});

test("a closed sign-up refuses everyone", async (t) => {
  const { world, browser } = await worldFor(t, { signup: "closed" });
  assert.equal((await browser.post("sign-up", { email: EMAIL, password: PASSWORD })).status, 403);
  assert.equal(await world.store.accounts.find(EMAIL), undefined);
  assert.equal(((await browser.get("session")).json as { signup: string }).signup, "closed");
});

test("sign-up is closed from the first administrator on, who opens and closes it unless the setting decides", async (t) => {
  const { world, browser, signedIn } = await worldFor(t);
  const early = { email: "early@x.example", password: PASSWORD };
  assert.equal((await browser.post("sign-up", early)).status, 204);
  await world.addAccount(EMAIL, { isAdmin: true });
  const admin = await signedIn(EMAIL);
  const shown = async () => (await admin.get("admin/signup")).json as { signup: string };
  await until(async () => (await shown()).signup === "closed");
  const order = { email: "new@x.example", password: PASSWORD };
  assert.deepEqual((await admin.get("admin/signup")).json, { signup: "closed", fixed: false });
  assert.equal((await browser.post("sign-up", order)).status, 403);
  assert.equal((await admin.post("admin/signup", { signup: "open" })).status, 204);
  assert.equal((await browser.post("sign-up", { ...order, email: "b@x.example" })).status, 204);
  assert.equal((await admin.post("admin/signup", { signup: "shut" })).status, 400);
  assert.equal((await admin.post("admin/signup", { signup: "closed" })).status, 204);
  assert.equal((await browser.post("sign-up", order)).status, 403);
  assert.equal(((await browser.get("session")).json as { signup: string }).signup, "closed");
  assert.equal((await admin.post("admin/signup", { signup: "open" })).status, 204);
  assert.equal((await browser.post("sign-up", order)).status, 204);
  const { entries } = (await admin.get("admin/audit")).json as {
    entries: { action: string; detail: string; actor: string }[];
  };
  assert.deepEqual(
    entries
      .filter(({ action }) => action === "sign_ups.switched")
      .map(({ actor, detail }) => [actor, detail]),
    [
      [EMAIL, "open"],
      [EMAIL, "closed"],
      [EMAIL, "open"],
    ],
  );
  const fixed = await worldFor(t, { signup: "closed" });
  await fixed.world.addAccount(EMAIL, { isAdmin: true });
  const other = await fixed.signedIn(EMAIL);
  assert.deepEqual((await other.get("admin/signup")).json, { signup: "closed", fixed: true });
  assert.equal((await other.post("admin/signup", { signup: "open" })).status, 409);
});

test("nobody signs up while the link for the first administrator is open", async (t) => {
  const { world, browser } = await worldFor(t);
  const order = { email: EMAIL, password: PASSWORD };
  const token = await world.setUp.begin();
  const refused = await browser.post("sign-up", order);
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.json, {
    error:
      "This service is being set up. Accounts can be made once it has its first administrator.",
  });
  assert.equal(await world.store.accounts.find(EMAIL), undefined);
  const first = { email: "admin@gatepost.example", password: PASSWORD, token };
  assert.equal((await browser.post("setup", first)).status, 204);
  assert.equal((await new Browser(world).post("sign-up", order)).status, 204);
  assert.equal((await world.store.accounts.find(EMAIL))?.isAdmin, false);
});

const badSignUps = [
  ["no address", { email: "ann", password: PASSWORD }],
  ["a short password", { email: EMAIL, password: "123456789" }],
  ["a password of one letter", { email: EMAIL, password: "aaaaaaaaaaaaaaaa" }],
  ["the address as the password", { email: EMAIL, password: EMAIL }],
  ["the address and figures", { email: "annabelle@x.example", password: "Annabelle2026!" }],
  ["a common password", { email: EMAIL, password: "1234567890" }],
  ["a common password in capitals", { email: EMAIL, password: "QwertyUIOP123" }],
  ["a common word with figures", { email: EMAIL, password: "Password2026!" }],
  ["NUL in a password", { email: EMAIL, password: "correct\0horse battery" }],
  ["a password of 1,001 characters", { email: EMAIL, password: "abcd1".repeat(250) }],
  ["a password that is a number", { email: EMAIL, password: 1234567890 }],
  ["a body that is a list", []],
] as const;

test("signing up needs an address and a password that holds", async (t) => {
  const { world, browser } = await worldFor(t);
  for (const [name, body] of badSignUps) {
    assert.equal((await browser.post("sign-up", body)).status, 400, name);
  }
  assert.equal(await world.store.accounts.find(EMAIL), undefined);
  const again = await browser.post("sign-up", { email: EMAIL, password: PASSWORD });
  assert.equal(again.status, 204, "mistakes do not use up the day's three");
});

test("a wrong password and an unknown address get the same answer", async (t) => {
  const { world, browser } = await worldFor(t);
  await world.addAccount(EMAIL);
  await world.store.accounts.create({
    email: "nopassword@x.example",
    tier: "free",
    origin: "operator",
    isAdmin: false,
  });
  const replies = [
    await browser.signIn(EMAIL, "wrong password"),
    await browser.signIn("nobody@x.example", PASSWORD),
    await browser.signIn("nopassword@x.example", PASSWORD),
    await browser.signIn("not an address", PASSWORD),
  ];
  assert.deepEqual(new Set(replies.map(({ status, text }) => `${String(status)} ${text}`)).size, 1);
  assert.equal(replies[0]?.status, 401);
  assert.equal(replies[0]?.headers.get("x-session"), null, "no session ended");
});

test("attempts are slowed by address and the right password works again after", async (t) => {
  const { world, browser } = await worldFor(t);
  await world.addAccount(EMAIL);
  for (let tries = 0; tries < 10; tries += 1) await browser.signIn(EMAIL, "wrong password");
  const slowed = await browser.signIn(EMAIL, PASSWORD);
  assert.equal(slowed.status, 429);
  assert.match(slowed.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
});

test("the cookie is closed to scripts and other sites; behind TLS it is bound to the host", async (t) => {
  for (const [publicUrl, want] of [
    [
      undefined,
      /^gatepost_session=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Strict$/,
    ],
    [
      "https://gatepost.example",
      /^__Host-gatepost_session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    ],
  ] as const) {
    const { world, browser } = await worldFor(t, publicUrl === undefined ? {} : { publicUrl });
    await world.addAccount(EMAIL);
    const reply = await browser.signIn(EMAIL, PASSWORD);
    assert.match(reply.headers.get("set-cookie") ?? "", want);
    assert.equal((await browser.get("keys")).status, 200);
  }
});

test("no answer is kept by a cache, guessed at, framed or read by another site", async (t) => {
  const { browser } = await worldFor(t);
  for (const path of ["session", "keys"]) {
    const { headers } = await browser.get(path);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
    assert.equal(headers.get("access-control-allow-origin"), null);
  }
});

test("the database holds neither the token nor the key nor the password", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const { api_key: apiKey } = (await browser.post("keys", { name: "k" })).json as {
    api_key: string;
  };
  const { db } = world.store.sql;
  const tables = await db.introspection.getTables();
  const rows = await Promise.all(
    tables.map(({ name }) =>
      db
        .selectFrom(name as "accounts")
        .selectAll()
        .execute(),
    ),
  );
  const everything = JSON.stringify(rows) + world.log.text();
  for (const secret of [browser.cookie.split("=")[1] ?? "", apiKey, PASSWORD]) {
    assert.ok(secret.length > 20);
    assert.equal(everything.includes(secret), false);
  }
});

test("signing out ends the session on the server", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const thief = new Browser(world);
  thief.cookie = browser.cookie;
  assert.equal((await browser.post("sign-out")).status, 204);
  assert.equal(browser.cookie, "");
  const reply = await thief.get("keys");
  assert.deepEqual([reply.status, reply.headers.get("x-session")], [401, "none"]);
});

test("a new password ends all other sessions and asks for the old one", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const [browser, other] = [await signedIn(EMAIL), await signedIn(EMAIL)];
  const next = "another fine password";
  const wrong = { current_password: "not the one", new_password: next };
  assert.equal((await browser.post("password", wrong)).status, 403);
  assert.equal((await other.get("keys")).status, 200);
  const right = { current_password: PASSWORD, new_password: next };
  assert.equal((await browser.post("password", right)).status, 204);
  assert.equal((await browser.get("keys")).status, 200);
  assert.equal((await other.get("keys")).status, 401);
  await signedIn(EMAIL, next);
});

test("a deleted account is gone with its sessions and keys", async (t) => {
  const { world, signedIn } = await worldFor(t);
  const id = await world.addAccount(EMAIL);
  const [browser, other] = [await signedIn(EMAIL), await signedIn(EMAIL)];
  await browser.post("keys", { name: "k" });
  assert.equal((await browser.post("delete", { current_password: "no" })).status, 403);
  assert.equal((await browser.post("delete", { current_password: PASSWORD })).status, 204);
  assert.equal((await other.get("keys")).status, 401);
  assert.equal(await world.store.accounts.find(id), undefined);
  assert.deepEqual(await world.store.keys.list(id), []);
});

test("behind an https address a page that came without TLS changes nothing", async (t) => {
  const { world } = await worldFor(t, { publicUrl: "https://gatepost.example" });
  for (const [origin, status] of [
    ["https://gatepost.example", 401],
    ["http://gatepost.example", 403],
    ["https://gatepost.example:8443", 403],
  ] as const) {
    const body = JSON.stringify({ email: EMAIL, password: PASSWORD });
    const head = `Host: gatepost.example\r\nOrigin: ${origin}\r\nContent-Type: application/json`;
    const request = `POST /account/sign-in HTTP/1.1\r\n${head}\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;
    const answer = await askRaw(Number(new URL(world.url).port), request);
    assert.equal(answer.status, status, origin);
  }
});
