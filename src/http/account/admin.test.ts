import { insertRow } from "../../store/rows.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import { PASSWORD } from "../../../test/dashboard/dashboard-world.ts";
import { worldFor, ZONE, EMAIL } from "../../../test/dashboard/account-world.ts";

test("an administrator changes plan, credits and switch, and every change is on record", async (t) => {
  const { world, signedIn } = await worldFor(t);
  const id = await world.addAccount(EMAIL);
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const admin = await signedIn("admin@gatepost.example");
  const at = `admin/accounts/${id}`;
  assert.equal((await admin.post(`${at}/tier`, { tier: "anonymous" })).status, 400);
  assert.equal((await admin.post(`${at}/tier`, { tier: "pro" })).status, 204);
  const granted = await admin.post(`${at}/credits`, { amount: 50, reason: "Welcome" });
  assert.deepEqual(granted.json, { balance: 50 });
  assert.equal((await admin.post(`${at}/credits`, { amount: -51, reason: "" })).status, 409);
  assert.equal((await admin.post(`${at}/credits`, { amount: 0, reason: "" })).status, 400);
  assert.equal((await admin.post(`${at}/credits`, { amount: 1.5, reason: "" })).status, 400);
  assert.equal((await admin.post(`${at}/disable`)).status, 204);
  assert.equal((await new Browser(world).signIn(EMAIL, PASSWORD)).status, 403);
  assert.equal((await admin.post(`${at}/enable`)).status, 204);
  assert.equal((await admin.post("admin/accounts/nobody/enable")).status, 404);
  const { entries } = (await admin.get("admin/audit")).json as {
    entries: { action: string; subject: string; actor: string; detail: string }[];
  };
  assert.deepEqual(
    entries
      .filter(({ subject }) => subject === EMAIL)
      .map(({ action }) => action)
      .sort(),
    ["account.disabled", "account.enabled", "account.tier", "credits.granted"],
  );
  const own = await signedIn(EMAIL);
  const shown = (await own.get("activity")).text;
  assert.equal(shown.includes("admin@gatepost.example"), false, "not which administrator it was");
});

const OWN = { current_password: PASSWORD };

test("an administrator promotes and sets passwords with the own password only", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const id = await world.addAccount(EMAIL);
  const admin = await signedIn("admin@gatepost.example");
  const password = "another fine password";
  for (const [more, want] of [
    [{}, 400],
    [{ current_password: "not the own one" }, 403],
    [{ current_password: "" }, 403],
    [{ current_password: 1 }, 400],
    [OWN, 204],
  ] as const) {
    const set = await admin.post(`admin/accounts/${id}/password`, { password, ...more });
    assert.equal(set.status, want);
    const promoted = await admin.post(`admin/accounts/${id}/promote`, { ...more });
    assert.equal(promoted.status, want);
    assert.equal((await world.store.accounts.find(id))?.isAdmin, want === 204);
  }
});

test("promoting an account of a sign-up sets a new password, shown once", async (t) => {
  const { world, browser, signedIn } = await worldFor(t, { signup: "open" });
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  assert.equal((await browser.post("sign-up", { email: EMAIL, password: PASSWORD })).status, 204);
  const squatter = await signedIn(EMAIL);
  const page = { name: "a page", origins: ["https://shop.example"] };
  for (const body of [{ name: "mine" }, page]) {
    assert.equal((await squatter.post("keys", body)).status, 200);
  }
  const id = (await world.store.accounts.find(EMAIL))?.id ?? "";
  const { db } = world.store.sql;
  const own = { account_id: id };
  await insertRow(db, "policies", {
    ...own,
    name: "default",
    live_version: 1,
    shadow_version: null,
    next_version: 2,
  });
  await insertRow(db, "hooks", {
    ...own,
    id: "h1",
    system: "supabase",
    policy: "default",
    challenge: "accept",
    secret: "",
    jwks_url: null,
    last_call: null,
    last_failure: null,
    created_at_ms: 0,
  });
  const endpoint = { ...own, url: "https://hooks.example/", events: "", sealed_secret: "" };
  await insertRow(db, "webhook_endpoints", endpoint);
  const admin = await signedIn("admin@gatepost.example");
  const wrong = await admin.post(`admin/accounts/${id}/promote`, { current_password: "wrong one" });
  assert.equal(wrong.status, 403);
  assert.equal((await squatter.get("keys")).status, 200);
  const promoted = await admin.post(`admin/accounts/${id}/promote`, OWN);
  assert.equal(promoted.status, 200);
  const { password, ...ended } = promoted.json as { password: string };
  assert.deepEqual(ended, { keys: 2, hooks: 1, webhooks: 1, policies: ["default"] });
  assert.ok((await world.store.keys.list(id)).every((key) => key.revoked_at_ms !== null));
  for (const table of ["hooks", "webhook_endpoints"] as const) {
    assert.deepEqual(await db.selectFrom(table).select("account_id").execute(), []);
  }
  assert.equal((await squatter.get("keys")).status, 401, "signed out");
  assert.equal((await browser.signIn(EMAIL, PASSWORD)).status, 401);
  await signedIn(EMAIL, password);
  const again = await admin.post(`admin/accounts/${id}/promote`, OWN);
  assert.deepEqual([again.status, again.text], [204, ""]);
  await signedIn(EMAIL, password);
  const { entries } = (await admin.get("admin/audit")).json as { entries: { action: string }[] };
  const actions = entries.map(({ action }) => action);
  assert.ok(actions.includes("account.password") && actions.includes("account.promoted"));
});

test("numbers of its own count in place of the plan's, and the account sees them", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const id = await world.addAccount(EMAIL);
  const key = await world.store.keys.create(id, "k");
  const rateOf = async (): Promise<string | null> => {
    const headers = { "x-api-key": key.apiKey };
    const { headers: said } = await fetch(`${world.url}/api/domain/good.example`, { headers });
    return said.get("x-ratelimit-limit");
  };
  const [admin, own] = [await signedIn("admin@gatepost.example"), await signedIn(EMAIL)];
  assert.equal(await rateOf(), "60");
  const limits = { rate_per_minute: 700, daily: null };
  assert.equal((await admin.post(`admin/accounts/${id}/limits`, limits)).status, 204);
  assert.equal(await rateOf(), "700");
  const {
    rate_per_minute: rate,
    day,
    month,
  } = (await own.get("allowance")).json as {
    rate_per_minute: number;
    day: { limit: number | null };
    month: { limit: number | null };
  };
  assert.deepEqual([rate, day.limit, month.limit], [700, null, 30_000]);
  const page = (await admin.get(`admin/accounts/${id}`)).json as { account: { limits: unknown } };
  assert.deepEqual(page.account.limits, limits);
  for (const wrong of [{ rate_per_minute: 0 }, { daily: -1 }, { daily: "many" }]) {
    assert.equal((await admin.post(`admin/accounts/${id}/limits`, wrong)).status, 400);
  }
  assert.equal((await own.post(`admin/accounts/${id}/limits`, limits)).status, 403);
  assert.equal((await admin.post(`admin/accounts/${id}/limits`, {})).status, 204);
  assert.equal(await rateOf(), "60");
});

test("an administrator deletes another's account with the own password only", async (t) => {
  const { world, signedIn } = await worldFor(t);
  const own = await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const id = await world.addAccount(EMAIL);
  const admin = await signedIn("admin@gatepost.example");
  assert.equal((await admin.post(`admin/accounts/${own}/delete`, OWN)).status, 409);
  const wrong = { current_password: "not the own one" };
  assert.equal((await admin.post(`admin/accounts/${id}/delete`, wrong)).status, 403);
  assert.equal((await admin.post(`admin/accounts/${id}/delete`, OWN)).status, 204);
  assert.equal(await world.store.accounts.find(EMAIL), undefined);
});

test("the keys of an account that an administrator switches off are refused at once", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const id = await world.addAccount(EMAIL);
  const created = await world.store.keys.create(id, "known");
  const asked = async (): Promise<number> => {
    const headers = { "x-api-key": created.apiKey };
    return (await fetch(`${world.url}/api/domain/good.example`, { headers })).status;
  };
  const admin = await signedIn("admin@gatepost.example");
  assert.equal(await asked(), 200, "and is remembered");
  await admin.post(`admin/accounts/${id}/disable`);
  assert.equal(await asked(), 403);
});

test("administrators cannot switch themselves off or take their own rights away", async (t) => {
  const { world, signedIn } = await worldFor(t);
  const id = await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const admin = await signedIn("admin@gatepost.example");
  assert.equal((await admin.post(`admin/accounts/${id}/disable`)).status, 409);
  assert.equal((await admin.post(`admin/accounts/${id}/demote`)).status, 409);
});

test("an id with NUL is no other id, and changes nothing", async (t) => {
  const { world, signedIn } = await worldFor(t);
  const id = await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const other = await world.addAccount(EMAIL);
  const key = await world.store.keys.create(id, "shop");
  const admin = await signedIn("admin@gatepost.example");
  for (const verb of ["demote", "disable", "promote", "enable", "tier", "credits", "password"]) {
    for (const one of [id, other]) {
      const body = { ...OWN, amount: 1, reason: "", tier: "free", password: "a long new one" };
      const reply = await admin.post(`admin/accounts/${one}%00/${verb}`, body);
      assert.equal(reply.status, 404, verb);
    }
  }
  assert.equal((await admin.get(`admin/accounts/${id}%00x`)).status, 404);
  assert.equal((await admin.delete(`keys/${key.key.id}%00`)).status, 404);
  assert.deepEqual((await admin.get("admin/accounts?q=a%00b")).json, {
    accounts: [],
    total: 0,
    page: 1,
    page_size: 50,
  });
  assert.equal((await admin.post("keys", { name: "a\0b" })).status, 400);
  assert.equal(
    (await admin.post("sign-in", { email: `${EMAIL}\0`, password: PASSWORD })).status,
    401,
  );
  const admins = (await world.store.accounts.find(id))?.isAdmin;
  assert.deepEqual([admins, (await world.store.accounts.find(other))?.isAdmin], [true, false]);
});

test("a store takes no text for another that NUL cuts", async (t) => {
  const { world } = await worldFor(t);
  const id = await world.addAccount(EMAIL);
  assert.equal(await world.store.accounts.find(`${id}\0`), undefined);
  assert.equal(await world.store.accounts.promote(`${id}\0tail`), undefined);
});

test("an administrator has the plan pro, made or promoted, and keeps it", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount("admin@gatepost.example", { isAdmin: true, tier: "free" });
  const id = await world.addAccount(EMAIL, { tier: "free" });
  const admin = await signedIn("admin@gatepost.example");
  const tierOf = async (who: string) => (await world.store.accounts.find(who))?.tier;
  assert.equal(await tierOf("admin@gatepost.example"), "pro");
  assert.equal((await admin.post(`admin/accounts/${id}/promote`, OWN)).status, 204);
  assert.equal(await tierOf(id), "pro");
  const refused = await admin.post(`admin/accounts/${id}/tier`, { tier: "free" });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /An administrator has the plan pro/);
  assert.equal((await admin.post(`admin/accounts/${id}/demote`)).status, 204);
  assert.equal((await admin.post(`admin/accounts/${id}/tier`, { tier: "free" })).status, 204);
  assert.equal((await admin.post("admin/accounts/nobody/promote", OWN)).status, 404);
});

test("accounts come in pages of 50, narrowed by plan and state, and one with usage and keys", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, at) => world.addAccount(`user${String(at)}@gatepost.example`)),
  );
  const admin = await signedIn("admin@gatepost.example");
  const list = async (query: string) => {
    const { json } = await admin.get(`admin/accounts?${query}`);
    const { accounts, total, page } = json as {
      accounts: readonly { email: string }[];
      total: number;
      page: number;
    };
    return [accounts.length, total, page];
  };
  assert.deepEqual(await list(""), [50, 61, 1]);
  assert.deepEqual(await list("page=2"), [11, 61, 2]);
  assert.deepEqual(await list("page=3"), [0, 61, 3]);
  assert.deepEqual(await list("state=admin"), [1, 1, 1]);
  assert.deepEqual(await list("tier=free&q=user1"), [11, 11, 1]);
  assert.deepEqual(await list("state=unheard-of"), [50, 61, 1], "unknown words narrow nothing");
  const [id = ""] = made;
  const created = await world.store.keys.create(id, "shop");
  const one = await admin.get(`admin/accounts/${id}`);
  const shown = one.json as { days: readonly unknown[]; keys: readonly { name: string }[] };
  assert.deepEqual([shown.days.length, shown.keys.map(({ name }) => name)], [30, ["shop"]]);
  assert.equal(one.text.includes(created.apiKey), false);
  assert.equal((await admin.get("admin/accounts/nobody")).status, 404);
});
