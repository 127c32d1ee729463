import { strict as assert } from "node:assert";
import { test } from "node:test";
import { EMAIL, worldFor } from "../../../test/dashboard/account-world.ts";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import { PASSWORD } from "../../../test/dashboard/dashboard-world.ts";
import { changeRows, insertRow } from "../../store/rows.ts";
import { readTrustedProxies } from "../client-address.ts";

/** A browser behind a proxy on 127.0.0.1 that says who it is. */
async function behindProxy(t: Parameters<typeof worldFor>[0], trusted = "127.0.0.1") {
  const trustProxy = readTrustedProxies(trusted);
  const { world } = await worldFor(t, { signInHeader: "remote-email", trustProxy });
  const id = await world.addAccount(EMAIL);
  const browser = new Browser(world);
  const as = (email: string, path = "session", more: Record<string, string> = {}) =>
    browser.call("GET", `/account/${path}`, { headers: { "Remote-Email": email, ...more } });
  return { world, id, browser, as };
}

const whoIn = ({ json }: { readonly json: unknown }) => {
  const { account, proxy_email } = json as { account?: { email: string }; proxy_email?: string };
  return [account?.email, proxy_email];
};

test("whom a trusted proxy names is signed in with the page's first request", async (t) => {
  const { world, browser, as } = await behindProxy(t);
  assert.equal((await as(EMAIL, "keys")).status, 401, "no other request begins a session");
  assert.deepEqual(whoIn(await as("  ANN@Gatepost.example ")), [EMAIL, undefined]);
  assert.match(browser.cookie, /^gatepost_session=/);
  const { cookie } = browser;
  assert.equal((await as(EMAIL, "keys")).status, 200);
  assert.deepEqual(whoIn(await as(EMAIL)), [EMAIL, undefined]);
  assert.equal(browser.cookie, cookie, "the session goes on");
  const { entries } = (await browser.get("activity")).json as { entries: { detail: string }[] };
  assert.deepEqual(
    entries.map(({ detail }) => detail),
    ["by the proxy"],
  );
  assert.doesNotMatch(world.log.text(), /header_ignored/);
});

test("a cookie of somebody else than the proxy names opens nothing", async (t) => {
  const { world, browser, as } = await behindProxy(t);
  await world.addAccount("bob@gatepost.example");
  await as(EMAIL);
  assert.equal((await as("bob@gatepost.example", "keys")).status, 401);
  assert.deepEqual(whoIn(await as("bob@gatepost.example")), ["bob@gatepost.example", undefined]);
  assert.equal((await as(EMAIL, "keys")).status, 401);
  assert.equal((await browser.get("keys")).status, 200, "no header: by the cookie");
});

for (const [name, email] of [
  ["an address without an account", "nobody@gatepost.example"],
  ["two addresses", `${EMAIL}, bob@gatepost.example`],
  ["no address", "guest"],
  ["an account's id", ""],
] as const) {
  test(`${name} is told so, and no account is made`, async (t) => {
    const { world, id, browser, as } = await behindProxy(t);
    const claimed = email === "" ? id : email;
    assert.deepEqual(whoIn(await as(claimed)), [undefined, claimed]);
    assert.equal(browser.cookie, "");
    assert.equal(await world.store.accounts.find("nobody@gatepost.example"), undefined);
  });
}

test("the header stands for the password alone, and not for one that is switched off", async (t) => {
  const { world, id, browser, as } = await behindProxy(t);
  await world.store.sql.db.updateTable("accounts").set({ second_factor: "{}" }).execute();
  assert.deepEqual(whoIn(await as(EMAIL)), [undefined, EMAIL]);
  await world.store.accounts.endSecondFactor(id);
  await world.store.accounts.disable(id);
  assert.deepEqual(whoIn(await as(EMAIL)), [undefined, EMAIL]);
  assert.equal(browser.cookie, "");
});

test("another peer's header is ignored and logged once a minute; a password still works", async (t) => {
  const { world, browser, as } = await behindProxy(t, "192.0.2.1");
  for (let asked = 0; asked < 5; asked += 1) {
    const forged = { "X-Forwarded-For": "192.0.2.1" };
    assert.deepEqual(whoIn(await as(EMAIL, "session", forged)), [undefined, undefined]);
  }
  assert.equal(browser.cookie, "");
  assert.equal(world.log.text().match(/sign_in\.header_ignored/g)?.length, 1);
  assert.equal((await browser.signIn(EMAIL, PASSWORD)).status, 204);
  assert.equal((await as("bob@gatepost.example", "keys")).status, 200);
});

test("another site's page begins no session", async (t) => {
  const { browser, as } = await behindProxy(t);
  for (const site of ["cross-site", "same-site", "none"]) {
    assert.deepEqual(whoIn(await as(EMAIL, "session", { "Sec-Fetch-Site": site })), [
      undefined,
      EMAIL,
    ]);
  }
  assert.equal(browser.cookie, "");
  await as(EMAIL, "session", { "Sec-Fetch-Site": "same-origin" });
  assert.notEqual(browser.cookie, "");
});

test("who comes by the proxy finds nothing of a stranger who signed up with that address before", async (t) => {
  const trustProxy = readTrustedProxies("127.0.0.1");
  const options = { signup: "open", signInHeader: "remote-email", trustProxy } as const;
  const { world, browser, signedIn } = await worldFor(t, options);
  assert.equal((await browser.post("sign-up", { email: EMAIL, password: PASSWORD })).status, 204);
  const stranger = await signedIn(EMAIL);
  assert.equal((await stranger.post("keys", { name: "mine" })).status, 200);
  const { id = "" } = (await world.store.accounts.find(EMAIL)) ?? {};
  const { db } = world.store.sql;
  const endpoint = { url: "https://evil.example/", events: "", sealed_secret: "" };
  await insertRow(db, "webhook_endpoints", { account_id: id, ...endpoint });
  await changeRows(db, "accounts", { id }, { second_factor: "{}" });
  const person = new Browser(world);
  const come = () => person.call("GET", "/account/session", { headers: { "Remote-Email": EMAIL } });
  assert.deepEqual(whoIn(await come()), [EMAIL, undefined]);
  assert.equal((await stranger.get("keys")).status, 401, "the session ended");
  assert.equal(
    (await new Browser(world).signIn(EMAIL, PASSWORD)).status,
    401,
    "the password ended",
  );
  const keys = async () => (await world.store.keys.list(id)).map((one) => one.revoked_at_ms);
  assert.ok(
    (await keys()).every((revoked) => revoked !== null),
    "the key ended",
  );
  assert.deepEqual(await db.selectFrom("webhook_endpoints").selectAll().execute(), []);
  const { entries } = (await person.get("activity")).json as { entries: { detail: string }[] };
  assert.ok(entries.some(({ detail }) => detail === "1 key, 0 hooks, 1 webhook"));
  assert.equal((await person.post("keys", { name: "the person's" })).status, 200);
  assert.deepEqual(whoIn(await come()), [EMAIL, undefined]);
  assert.ok((await keys()).includes(null), "what the person made stays");
});
