import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import {
  type DashboardWorld,
  dashboardWorld,
  PASSWORD,
} from "../../../test/dashboard/dashboard-world.ts";
import { readTrustedProxies } from "../client-address.ts";
import { ACCOUNT_ROUTES } from "./dashboard.ts";
import type { AccountRoute } from "./route.ts";

/** Who asks, and what must come of it for each kind of route: a status, or "served". */
const MATRIX = {
  "a visitor": { everyone: "served", account: 401, leaving: 401, admin: 401 },
  "a forged cookie": { everyone: "served", account: 401, leaving: 401, admin: 401 },
  "an account": { everyone: "served", account: "served", leaving: "served", admin: 403 },
  "an administrator": { everyone: "served", account: "served", leaving: "served", admin: "served" },
  "a disabled account": { everyone: "served", account: 403, leaving: "served", admin: 403 },
  "a disabled administrator": { everyone: "served", account: 403, leaving: "served", admin: 403 },
} as const satisfies Readonly<
  Record<string, Readonly<Record<AccountRoute["for"], number | "served">>>
>;
type Actor = keyof typeof MATRIX;

let world: DashboardWorld;
let strangerKey = "";
let strangerSession = "";
let strangerList = "";
const cookies = new Map<Actor, string>();

const ZONE = {
  "good.example": { mx: ["1 mx.good.example"] },
  "mx.good.example": { a: ["203.0.113.1"] },
};

async function signedIn(email: string): Promise<Browser> {
  const browser = new Browser(world);
  assert.equal((await browser.signIn(email, PASSWORD)).status, 204);
  return browser;
}

before(async () => {
  world = await dashboardWorld({ zone: ZONE, trustProxy: readTrustedProxies("127.0.0.1") });
  const people: readonly (readonly [Actor, string, boolean])[] = [
    ["an account", "own@gatepost.example", false],
    ["an administrator", "admin@gatepost.example", true],
    ["a disabled account", "off@gatepost.example", false],
    ["a disabled administrator", "off-admin@gatepost.example", true],
  ];
  for (const [actor, email, isAdmin] of people) {
    const id = await world.addAccount(email, { isAdmin });
    cookies.set(actor, (await signedIn(email)).cookie);
    if (actor.startsWith("a disabled")) await world.store.accounts.disable(id);
  }
  cookies.set("a forged cookie", `gatepost_session=${"A".repeat(43)}`);
  await world.addAccount("stranger@gatepost.example");
  const stranger = await signedIn("stranger@gatepost.example");
  const made = await stranger.post("keys", { name: "theirs" });
  strangerKey = (made.json as { id: string }).id;
  const { sessions } = (await stranger.get("sessions")).json as { sessions: { id: string }[] };
  strangerSession = sessions[0]?.id ?? "";
  const list = await stranger.upload("lists", "a.txt", "good.example");
  strangerList = (list.json as { id: string }).id;
});

after(() => world.close());

const browserOf = (actor: Actor): Browser => {
  const browser = new Browser(world);
  browser.cookie = cookies.get(actor) ?? "";
  return browser;
};

const pathOf = ({ path }: AccountRoute): string =>
  `/account/${path.replace(":id", "0".repeat(32))}`;

let asked = 0;

/** From another address every hundred times: all of them from one would reach its limit of a minute. */
const ask = (browser: Browser, route: AccountRoute, more: object = {}) => {
  asked += 1;
  return browser.call(route.method, pathOf(route), {
    ...(route.method === "POST" ? { body: {} } : {}),
    headers: { "x-forwarded-for": `192.0.2.${String(Math.floor(asked / 100))}` },
    ...more,
  });
};

for (const actor of Object.keys(MATRIX) as Actor[]) {
  test(`${actor} is served by exactly the routes that are for them, and no answer may be kept or read elsewhere`, async () => {
    assert.ok(ACCOUNT_ROUTES.length > 30);
    for (const route of ACCOUNT_ROUTES) {
      const { status, text, headers } = await ask(browserOf(actor), route);
      assert.equal(headers.get("cache-control"), "no-store", route.path);
      assert.equal(headers.get("access-control-allow-origin"), null, route.path);
      assert.equal(headers.get("cross-origin-resource-policy"), "same-origin", route.path);
      const want = MATRIX[actor][route.for];
      const name = `${actor}: ${route.method} ${route.path} gave ${String(status)} ${text}`;
      // A wrong password asked for again is the one other 403; an empty body never gets so far.
      if (want === "served") assert.ok(status < 500 && status !== 401 && status !== 403, name);
      else assert.equal(status, want, name);
      if (route.for === "leaving") cookies.set(actor, await renewed(actor));
    }
  });
}

/** Signing out is one of the routes, so the session is made again. */
async function renewed(actor: Actor): Promise<string> {
  const emails: Partial<Record<Actor, string>> = {
    "an account": "own@gatepost.example",
    "an administrator": "admin@gatepost.example",
  };
  const email = emails[actor];
  if (email !== undefined) return (await signedIn(email)).cookie;
  const known = cookies.get(actor) ?? "";
  if (!actor.startsWith("a disabled")) return known;
  const address =
    actor === "a disabled account" ? "off@gatepost.example" : "off-admin@gatepost.example";
  const account = await world.store.accounts.find(address);
  await world.store.accounts.enable(account?.id ?? "");
  const { cookie } = await signedIn(address);
  await world.store.accounts.disable(account?.id ?? "");
  return cookie;
}

test("what belongs to another account does not exist", async () => {
  for (const actor of ["an account", "an administrator"] as const) {
    const browser = browserOf(actor);
    const asked = [
      await browser.delete(`keys/${strangerKey}`),
      await browser.delete(`sessions/${strangerSession}`),
      await browser.get(`lists/${strangerList}`),
      await browser.get(`lists/${strangerList}/rows`),
      await browser.get(`lists/${strangerList}/csv`),
      await browser.post(`lists/${strangerList}/read`),
      await browser.post(`lists/${strangerList}/check`),
      await browser.post(`lists/${strangerList}/stop`),
      await browser.post(`lists/${strangerList}/fix`, { class: "misspelt" }),
      await browser.delete(`lists/${strangerList}`),
    ];
    assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set([404]));
  }
  const stranger = await signedIn("stranger@gatepost.example");
  const { keys } = (await stranger.get("keys")).json as { keys: { revoked_at: unknown }[] };
  assert.deepEqual(
    keys.map(({ revoked_at: revokedAt }) => revokedAt),
    [null],
  );
  assert.equal((await stranger.get(`lists/${strangerList}`)).status, 200);
});

const origins = [
  ["another site's page", "https://evil.example"],
  ["a page of another port", "http://127.0.0.1:1"],
  ["a sandboxed page", "null"],
  ["no origin at all", null],
  ["a text that is not an origin", "://"],
] as const;

for (const [name, origin] of origins) {
  test(`${name} changes nothing, signed in or not`, async () => {
    const changing = ACCOUNT_ROUTES.filter(({ method }) => method !== "GET");
    for (const route of changing) {
      const { status, json } = await ask(browserOf("an administrator"), route, { origin });
      assert.equal(status, 403, `${route.method} ${route.path}`);
      assert.deepEqual(json, { error: "The request did not come from this site." });
    }
  });
}

test("the public address is an allowed origin too, because a proxy may rewrite the host", async () => {
  const browser = browserOf("an account");
  const call = { body: { name: "by proxy" }, origin: "http://gatepost.example" };
  assert.equal((await browser.call("POST", "/account/keys", call)).status, 200);
});

const SAME_HOST: readonly (readonly [
  name: string,
  headers: Record<string, string>,
  status: number,
])[] = [
  ["another scheme of the host", {}, 403],
  ["a proxy that says http", { "x-forwarded-proto": "http" }, 403],
  ["a proxy that says https", { "x-forwarded-proto": "https" }, 200],
  ["a browser that calls it the same origin", { "sec-fetch-site": "same-origin" }, 200],
  ["a browser that calls it the same site", { "sec-fetch-site": "same-site" }, 403],
];

for (const [name, headers, status] of SAME_HOST) {
  test(`https at the host itself: ${name} is answered with ${String(status)}`, async () => {
    const browser = browserOf("an account");
    const origin = world.url.replace("http:", "https:");
    const call = { body: { name: "by proxy" }, origin, headers };
    assert.equal((await browser.call("POST", "/account/keys", call)).status, status);
  });
}

test("the session cookie opens nothing under /api", async () => {
  const { status, headers } = await browserOf("an administrator").call(
    "GET",
    "/api/email/a@good.example",
  );
  assert.equal(status, 200);
  assert.equal(headers.get("x-ratelimit-limit"), "30", "as an anonymous caller");
});
