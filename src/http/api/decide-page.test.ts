import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { createSecretBox } from "../../base/secrets.ts";
import { UsageLedger } from "../../accounts/admission/usage.ts";
import { dayOf } from "../../core/calendar.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import type { Keys } from "../../accounts/key-store.ts";
import type { NewPage } from "../../accounts/keys.ts";
import { accountKey } from "../../base/owner.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { PATIENCE_MS, until } from "../../../test/time/until.ts";
import { GATE_KEY, type GateWorld, gateWorld } from "../../../test/policy/gate-world.ts";
import { KNOWN, ask } from "../../../test/policy/asked-decision.ts";
import { inject } from "../../../test/http/inject.ts";

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
  const late = await gateWorld(t, { ...KNOWN, keys: (keys) => Object.assign(keys, away) });
  const known = await late.account("jo@shop.example");
  const asked = { ...payload, deadline_ms: 50 };
  const { status, answer } = await ask(late, asked, { "x-api-key": known.apiKey });
  assert.deepEqual([status, answer.token], [200, undefined]);
});

test("a publishable key works from its origins alone and sees neither result nor mailbox", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id } = await world.account("jo@shop.example");
  const made = await world.store.keys.create(id, "page", { origins: ["https://shop.example"] });
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
  const elsewhere = await inject(world.app, { url: "/api/email/a@b.example", headers: from });
  assert.equal(elsewhere.statusCode, 403);
  await world.flush();
  const [row] = await world.outcomes.ofAccount(id, 0);
  assert.deepEqual([row?.key_id, row?.decision], [made.key.id, "reject"]);
});

const FROM = "https://shop.example";

async function pageOf(
  world: GateWorld,
  terms: Partial<NewPage> = {},
): Promise<{ id: string; apiKey: string; from: Record<string, string> }> {
  const { id, apiKey } = await world.account("jo@shop.example", "free");
  const made = await world.store.keys.create(id, "page", { origins: [FROM], ...terms });
  return { id, apiKey, from: { "x-api-key": made.apiKey, origin: FROM } };
}

/** DNS as the zone has it; `asked` counts the questions. */
function countedLookup() {
  const zone = zoneLookup({
    "good.example": { mx: ["10 mx.good.example"] },
    "mx.good.example": { a: ["198.51.100.1"] },
  });
  const counted = { asked: 0 };
  const mx: Lookup["mx"] = (...words) => {
    counted.asked += 1;
    return zone.mx(...words);
  };
  return { counted, lookup: { ...zone, mx } };
}

test("policy, form and facts of a page are its key's", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id } = await world.account("owner@shop.example");
  const account = (await world.store.accounts.find(id)) ?? assert.fail();
  const document = {
    rules: [{ when: { "caller.plan": "trial" }, then: "reject" }],
    else: "review",
  };
  await world.policies.save({ account, author: "jo" }, "shop", document, "live");
  const made = await world.store.keys.create(id, "page", {
    origins: [FROM],
    policy: "shop",
    form: "join",
  });
  const from = { "x-api-key": made.apiKey, origin: FROM };
  const given = { ...EMAIL, form: "checkout", facts: { plan: "trial" } };
  for (const payload of [given, { ...given, policy: "shop", facts: [1] }]) {
    const { status, answer } = await ask(world, payload, from);
    assert.deepEqual([status, answer.decision, answer.policy.name], [200, "review", "shop"]);
    const { claims } = partsOf(answer.token);
    assert.deepEqual(
      [claims["form"], claims["key"], claims["pol"]],
      ["join", made.key.id, "shop@1"],
    );
  }
  const other = await ask(world, { ...EMAIL, policy: "default" }, from);
  assert.equal(other.status, 403);
  await assert.rejects(
    world.policies.remove(id, "shop"),
    /"shop" is used by key [0-9a-f]+ \(page\)/,
  );
});

const BAD_PAGES: readonly [name: string, page: NewPage, mistake: RegExp][] = [
  ["a pattern", { origins: ["https://*.shop.example"] }, /not an origin/],
  ["a question mark", { origins: ["https://sho?.example"] }, /not an origin/],
  ["a star", { origins: ["*"] }, /not an origin/],
  ["no origin", { origins: [] }, /needs 1 to 20 origins/],
  ["an unknown policy", { origins: [FROM], policy: "strcit" }, /no policy "strcit"/],
  ["a form over two lines", { origins: [FROM], form: "a\nb" }, /label/],
  ["no allowance", { origins: [FROM], daily: 0 }, /allowance/],
];

for (const [name, page, mistake] of BAD_PAGES) {
  test(`a publishable key is not made: ${name}`, async (t) => {
    const world = await gateWorld(t);
    const { id } = await world.account("jo@shop.example");
    await assert.rejects(world.store.keys.create(id, "page", page), mistake);
  });
}

test("over its allowance a page is answered from format, lists and rules, uncharged", async (t) => {
  const { lookup, counted } = countedLookup();
  const world = await gateWorld(t, { ...KNOWN, lookup });
  const { id, apiKey, from } = await pageOf(world, { daily: 2 });
  for (let call = 0; call < 2; call += 1) {
    assert.equal((await ask(world, EMAIL, from)).answer.complete, true);
  }
  const before = counted.asked;
  const good = await ask(world, EMAIL, from);
  assert.deepEqual(
    [good.status, good.answer.decision, good.answer.complete],
    [200, "accept", false],
  );
  assert.equal(partsOf(good.answer.token).claims["cpl"], false);
  const listed = await ask(world, { email: "jo@bad.example" }, from);
  assert.deepEqual([listed.status, listed.answer.decision], [200, "reject"]);
  assert.equal(counted.asked, before, "DNS is not asked");
  const secret = await ask(world, EMAIL, { "x-api-key": apiKey });
  assert.deepEqual([secret.status, secret.answer.complete], [200, true]);
  await until(async () => (await usedBy(world, id)) >= 3, { withinMs: PATIENCE_MS });
  assert.equal(await usedBy(world, id), 3);
});

const usedBy = async ({ store }: GateWorld, id: string): Promise<number> =>
  (await new UsageLedger(store.sql.db).unitsUsed(accountKey(id), dayOf(Date.now()))).inDay;

test("pages take half of the plan at most, and never credits", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id, apiKey, from } = await pageOf(world);
  await world.store.credits.grant(id, 100, "");
  // 10,000 units a day
  await new UsageLedger(world.store.sql.db).add([
    { owner: accountKey(id), day: dayOf(Date.now()), units: 4_999 },
  ]);
  const completes: boolean[] = [];
  for (let call = 0; call < 3; call += 1) {
    const { status, answer } = await ask(world, EMAIL, from);
    assert.equal(status, 200);
    completes.push(answer.complete);
  }
  assert.deepEqual(completes, [true, false, false]);
  assert.equal((await world.store.accounts.find(id))?.creditBalance, 100);
  const secret = await ask(world, EMAIL, { "x-api-key": apiKey });
  assert.deepEqual([secret.status, secret.answer.complete], [200, true]);
});

test("a page waits at least 300 ms for who asks", async (t) => {
  const clock = manualClock(Date.now());
  // The time that is left for a secret key that allows 50 ms passes before the store answers.
  const slow = (keys: Keys): Keys => {
    const holder = keys.holder.bind(keys);
    return Object.assign(keys, {
      async holder(hash: string) {
        await Promise.resolve();
        clock.advance(100);
        return holder(hash);
      },
    });
  };
  const world = await gateWorld(t, { ...KNOWN, keys: slow, clock });
  const { from, apiKey } = await pageOf(world);
  const asked = { ...EMAIL, deadline_ms: 50, token: true };
  const { answer } = await ask(world, asked, from);
  assert.ok(answer.token, "the caller is known");
  const evil = await ask(world, asked, { ...from, origin: "https://evil.example" });
  assert.equal(evil.status, 403);
  const secret = await ask(world, asked, { "x-api-key": apiKey });
  assert.deepEqual([secret.status, secret.answer.token], [200, undefined]);
});
