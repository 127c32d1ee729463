import { strict as assert } from "node:assert";
import { type TestContext, test } from "node:test";
import { sqlVerdictCounts } from "../../adapters/sql/evidence/verdict-counts.ts";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import {
  dashboardWorld,
  type DashboardWorldOptions,
  PASSWORD,
} from "../../../test/dashboard/dashboard-world.ts";
import { withinOneDay } from "../../../test/time/within-one-day.ts";

async function worldFor(t: TestContext, options: DashboardWorldOptions = {}) {
  const world = await dashboardWorld(options);
  t.after(() => world.close());
  const browser = new Browser(world);
  const signedIn = async (email: string, password = PASSWORD): Promise<Browser> => {
    const other = new Browser(world);
    assert.equal((await other.signIn(email, password)).status, 204);
    return other;
  };
  return { world, browser, signedIn };
}

const EMAIL = "ann@gatepost.example";

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

const badSignUps = [
  ["no address", { email: "ann", password: PASSWORD }],
  ["a short password", { email: EMAIL, password: "123456789" }],
  ["a password of one letter", { email: EMAIL, password: "aaaaaaaaaaaaaaaa" }],
  ["the address as the password", { email: EMAIL, password: EMAIL }],
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

test("a key is shown once, listed by its ends, and revoked for good", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const made = (await browser.post("keys", { name: " Sign-up form " })).json as {
    id: string;
    api_key: string;
  };
  const { text } = await browser.get("keys");
  assert.equal(text.includes(made.api_key), false);
  assert.ok(text.includes(made.api_key.slice(-4)));
  const asKey = { headers: { "x-api-key": made.api_key } };
  assert.equal((await browser.call("GET", "/api/domain/x.example", asKey)).status, 200);
  assert.equal((await browser.delete(`keys/${made.id}`)).status, 204);
  assert.equal((await browser.post("keys", { name: "two\nlines" })).status, 400);
});

test("spellings are counted when the account says so, which is on record", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const isCounted = async (): Promise<boolean> =>
    ((await browser.get("session")).json as { account: { counts_spellings: boolean } }).account
      .counts_spellings;
  assert.equal(await isCounted(), false);
  assert.equal((await browser.post("spellings", { state: "on" })).status, 204);
  assert.equal(await isCounted(), true);
  assert.equal((await browser.post("spellings", { state: true })).status, 400);
  assert.equal((await browser.post("spellings", { state: "off" })).status, 204);
  assert.equal(await isCounted(), false);
  const { entries } = (await browser.get("activity")).json as { entries: { detail: string }[] };
  assert.deepEqual(
    entries.slice(0, 2).map(({ detail }) => detail),
    ["off", "on"],
  );
});

const ZONE = {
  "good.example": { mx: ["1 mx.good.example"], txt: ["v=spf1 -all"] },
  "mx.good.example": { a: ["203.0.113.1"] },
};

const linesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("a check sends the core facts first, then what the API would answer, for one unit", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  const id = await world.addAccount(EMAIL, { tier: "pro" });
  const browser = await signedIn(EMAIL);
  const features = ["spf", "smtp"];
  const { text } = await browser.post("check", { entry: " ann@good.example ", features });
  const [core, full] = linesOf(text);
  assert.deepEqual([core?.["step"], full?.["step"]], ["core", "full"]);
  const { api_key: apiKey } = (await browser.post("keys", { name: "k" })).json as {
    api_key: string;
  };
  const api = await browser.call("GET", "/api/email/ann@good.example?features=spf,smtp", {
    headers: { "x-api-key": apiKey },
  });
  assert.deepEqual(full?.["result"], api.json);
  const advice = full?.["advice"] as { check: string }[];
  assert.deepEqual(
    advice.map(({ check }) => check),
    ["spf", "spam_trap"],
  );
  const receipt = await world.admission.charge(
    {
      caller: { owner: { kind: "account", accountId: id }, tier: "pro", clientAddress: "x" },
      hasCredits: false,
    },
    1,
  );
  assert.equal(receipt.paidBy, "plan");
});

test("a check says what was wrong with the format, and a plan without premium what it lacks", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const bad = linesOf((await browser.post("check", { entry: "a..b@x", features: [] })).text);
  assert.deepEqual([bad.length, bad[0]?.["fault"]], [1, "dot_dot"]);
  const [only, ...more] = linesOf(
    (await browser.post("check", { entry: "good.example", features: ["spf"] })).text,
  );
  assert.equal(more.length, 0);
  const result = only?.["result"] as { requires_upgrade: string[]; upgrade_url: string };
  assert.deepEqual(result.requires_upgrade, ["spf"]);
  assert.equal(result.upgrade_url, "http://gatepost.example/pricing");
});

test("a check beyond the quota is refused with its status before any line", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  const id = await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const caller = {
    owner: { kind: "account", accountId: id },
    tier: "free",
    clientAddress: "x",
  } as const;
  await world.admission.charge({ caller, hasCredits: false }, 10_000);
  const { status, json } = await browser.post("check", { entry: "good.example", features: [] });
  assert.equal(status, 429);
  assert.equal((json as { error: string }).error, "Daily quota exceeded.");
});

const badChecks = [
  ["an empty entry", { entry: "  ", features: [] }],
  ["an entry that is a list", { entry: ["a@x.example"], features: [] }],
  ["features that are a text", { entry: "x.example", features: "spf" }],
  ["too many features", { entry: "x.example", features: Array(21).fill("spf") }],
  ["an entry of 2,001 characters", { entry: "a".repeat(2_001), features: [] }],
] as const;

test("a check with a body of another shape is refused", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  for (const [name, body] of badChecks) {
    assert.equal((await browser.post("check", body)).status, 400, name);
  }
});

test("forms, broken JSON and large bodies are refused", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const raw = (type: string, body: string) =>
    fetch(`${world.url}/account/keys`, {
      method: "POST",
      headers: { origin: world.url, cookie: browser.cookie, "content-type": type },
      body,
    }).then(({ status }) => status);
  assert.equal(await raw("application/x-www-form-urlencoded", "name=k"), 415);
  const part = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nk\r\n--x--\r\n';
  assert.equal(await raw("multipart/form-data; boundary=x", part), 415);
  assert.equal(await raw("text/plain", '{"name":"k"}'), 415);
  assert.equal(await raw("application/json", '{"name":'), 400);
  assert.equal(await raw("application/json", `{"name":"${"k".repeat(70_000)}"}`), 413);
  assert.deepEqual((await browser.get("keys")).json, { keys: [] });
});

interface Made {
  readonly session: string;
  readonly stats: object;
  readonly expires_in_seconds: number;
}

test("a list is charged once, told, shown in rows and forgotten", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const text = "ann@good.example\nANN@good.example\n=cmd|@x\nnowhere.example";
  const made = (await browser.post("lists", { text })).json as Made;
  assert.ok(made.expires_in_seconds > 890 && made.expires_in_seconds <= 900);
  const stats = { total: 4, unique: 3, invalid_format: 1, invalid_dns: 1, disposable: 0, valid: 1 };
  assert.deepEqual(made.stats, { ...stats, session: made.session });
  const rows = linesOf((await browser.get(`lists/${made.session}/rows`)).text).flat();
  assert.deepEqual(
    (rows as unknown as unknown[][]).map(([entry, fate]) => [entry, fate]),
    [
      ["ann@good.example", "valid"],
      ["ANN@good.example", "valid"],
      ["=cmd|@x", "invalidFormat"],
      ["nowhere.example", "invalidDns"],
    ],
  );
  const again = (await browser.get(`lists/${made.session}`)).json as Made;
  assert.ok(again.expires_in_seconds <= made.expires_in_seconds);
  assert.deepEqual({ ...again, expires_in_seconds: made.expires_in_seconds }, made);
  const valid = await browser.get(`lists/${made.session}/valid`);
  assert.equal(valid.text, "ann@good.example");
  assert.equal(valid.headers.get("content-disposition"), "attachment; filename=valid_list.txt");
  const whole = (await browser.get(`lists/${made.session}/json`)).json as { results: object };
  assert.equal(Object.keys(whole.results).length, 4);
  assert.equal((await browser.delete(`lists/${made.session}`)).status, 204);
  assert.equal((await browser.get(`lists/${made.session}`)).status, 404);
});

test("a webhook is saved with a reason when refused, its secret told once, and its log kept", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const inside = await browser.post("webhook", {
    url: "https://intranet.test.internal/",
    events: [],
  });
  assert.equal(inside.status, 422);
  assert.match((inside.json as { error: string }).error, /\w/);
  const url = "https://hooks.example/in";
  const saved = await browser.post("webhook", { url, events: ["bulk.completed"] });
  const { secret } = saved.json as { secret: string };
  assert.match(secret, /^[0-9a-f]{64}$/);
  const again = await browser.post("webhook", { url, events: [] });
  assert.deepEqual(again.json, { secret: null }, "the same address keeps its secret");
  assert.equal((await browser.get("webhook")).text.includes(secret), false);
  const pong = (await browser.post("webhook/ping")).json as { status: number };
  assert.equal(pong.status, 200);
  const log = (await browser.get("webhook/deliveries")).json as { deliveries: { event: string }[] };
  assert.deepEqual(
    log.deliveries.map(({ event }) => event),
    ["test.ping"],
  );
  assert.equal((await browser.delete("webhook")).status, 204);
  assert.equal((await browser.post("webhook/ping")).status, 404);
});

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

test("the keys of an account that an administrator switches off are refused at once", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const id = await world.addAccount(EMAIL);
  const created = await world.store.keys.create(id, "known");
  assert.ok(created.kind === "created");
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

test("an administrator has the plan pro, made or promoted, and keeps it", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount("admin@gatepost.example", { isAdmin: true, tier: "free" });
  const id = await world.addAccount(EMAIL, { tier: "free" });
  const admin = await signedIn("admin@gatepost.example");
  const tierOf = async (who: string) => (await world.store.accounts.find(who))?.tier;
  assert.equal(await tierOf("admin@gatepost.example"), "pro");
  assert.equal((await admin.post(`admin/accounts/${id}/promote`)).status, 204);
  assert.equal(await tierOf(id), "pro");
  const refused = await admin.post(`admin/accounts/${id}/tier`, { tier: "free" });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /An administrator has the plan pro/);
  assert.equal((await admin.post(`admin/accounts/${id}/demote`)).status, 204);
  assert.equal((await admin.post(`admin/accounts/${id}/tier`, { tier: "free" })).status, 204);
  assert.equal((await admin.post("admin/accounts/nobody/promote")).status, 404);
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
  assert.equal(one.text.includes(created.kind === "created" ? created.apiKey : "made"), false);
  assert.equal((await admin.get("admin/accounts/nobody")).status, 404);
});

test("the cockpit sums the verdicts of its days and names nobody who kept to a share", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const today = Math.floor(Date.now() / 86_400_000);
  const domain = "a.example";
  await sqlVerdictCounts(world.store.sql.db).add(
    [
      { day: today, domain, disposable: 3, other: 4, noMail: 2, noAnswer: 1 },
      { day: today - 20, domain, disposable: 9, other: 9 },
    ],
    100,
  );
  const admin = await signedIn("admin@gatepost.example");
  const { verdicts, held_back: heldBack } = (await admin.get("admin/cockpit?days=14")).json as {
    verdicts: unknown;
    held_back: unknown;
  };
  assert.deepEqual(verdicts, { disposable: 3, other: 4, no_mail: 2, no_answer: 1 });
  assert.deepEqual(heldBack, []);
});

test("checks and lists count in the charts as the API's requests do, refused ones too", (t) =>
  withinOneDay(async () => {
    const { world, signedIn } = await worldFor(t, { zone: ZONE });
    const id = await world.addAccount(EMAIL, { tier: "pro" });
    const browser = await signedIn(EMAIL);
    await browser.post("check", { entry: "ann@good.example", features: ["spf"] });
    await browser.post("lists", { text: "good.example" });
    await browser.post("lists", { text: "" });
    await browser.post("check", { entry: "", features: [] });
    await browser.get("keys");
    await world.countRequests();
    const today = Math.floor(Date.now() / 86_400_000);
    const [day] = await world.usage.days(`account:${id}`, today, today);
    assert.deepEqual(
      [day?.requests, day?.refusals],
      [3, 1],
      "a call without an entry does not count as a request",
    );
    assert.equal(
      day?.latency.reduce((sum, count) => sum + count, 0),
      3,
    );
  }));

test("a check names each list behind a signal, since when, and its fetch", async (t) => {
  const { world, signedIn } = await worldFor(t, { known: { curated: ["bad.example"] } });
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const { text } = await browser.post("check", { entry: "bad.example", features: [] });
  const evidence = linesOf(text).at(-1)?.["evidence"] as {
    signal: string;
    by: string;
    lists: object[];
  }[];
  const listed = evidence.find(({ signal }) => signal === "blacklist_exact");
  assert.equal(listed?.by, "lists");
  assert.deepEqual(Object.keys(listed?.lists[0] ?? {}), ["id", "curated", "since", "fetched_at"]);
});

test("usage has a row for every day asked, today last", (t) =>
  withinOneDay(async () => {
    const { world, signedIn } = await worldFor(t);
    const id = await world.addAccount(EMAIL);
    const today = Math.floor(Date.now() / 86_400_000);
    await world.usage.add([{ owner: `account:${id}`, day: today, units: 7, requests: 3 }]);
    const browser = await signedIn(EMAIL);
    const { days, allowance } = (await browser.get("usage?days=7")).json as {
      days: { units: number; latency: number[] }[];
      allowance: { day: { used: number } };
    };
    assert.deepEqual(
      days.map(({ units }) => units),
      [0, 0, 0, 0, 0, 0, 7],
    );
    assert.equal(days[0]?.latency.length, 7);
    assert.equal(allowance.day.used, 7);
    for (const text of ["0", "401", "-1", "many", "1e9"]) {
      const odd = (await browser.get(`usage?days=${text}`)).json as { days: unknown[] };
      assert.equal(odd.days.length, 30, text);
    }
  }));
