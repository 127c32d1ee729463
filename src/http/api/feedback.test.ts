import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { inject } from "../../../test/http/inject.ts";
import { ask } from "../../../test/policy/asked-decision.ts";
import { type GateWorld, gateWorld, type GateOptions } from "../../../test/policy/gate-world.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { DAY_MS } from "../../core/calendar.ts";

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const ZONE = {
  "mx.good.example": { a: ["198.51.100.1"] },
  "good.example": { mx: ["10 mx.good.example"] },
  "farm.example": { mx: ["10 mx.good.example"] },
  "gmail.com": { mx: ["10 mx.good.example"] },
};

async function openWorld(t: TestContext, options: GateOptions = {}) {
  const world = await gateWorld(t, { zone: ZONE, known: { curated: ["bad.example"] }, ...options });
  const account = await world.account("jo@shop.example");
  const call = async (
    method: "GET" | "POST",
    url: string,
    { payload, key = account.apiKey }: { payload?: object; key?: string | null } = {},
  ): Promise<Reply> => {
    const headers = key === null ? {} : { "x-api-key": key };
    const reply = await inject(world.app, { method, url, headers, ...(payload && { payload }) });
    return { status: reply.statusCode, body: reply.json() };
  };
  const report = (payload: object, key?: string | null): Promise<Reply> =>
    call("POST", "/api/feedback", { payload, ...(key !== undefined && { key }) });
  const decide = async (email: string, key = account.apiKey) =>
    (await ask(world, { email }, { "x-api-key": key })).answer;
  return { world, account, call, report, decide };
}

async function useRules(
  world: GateWorld,
  accountId: string,
  rules: readonly object[],
): Promise<void> {
  const account = (await world.store.accounts.find(accountId)) ?? assert.fail();
  await world.policies.save({ account, author: "jo" }, "default", { rules }, "live");
}

const ID = "m_AAAAAAAAAAAAAAAAAAAAAAAAAA";
const one = "Parameter outcome must be one of abuse, bounce, complaint, fine.";

const REFUSALS: readonly [name: string, body: object, error: string][] = [
  ["nothing", {}, "Missing parameter: email."],
  ["no outcome", { email: "a@x.example" }, "Missing parameter: outcome."],
  ["an unknown outcome", { email: "a@x.example", outcome: "spam" }, one],
  ["an outcome in capitals", { email: "a@x.example", outcome: "ABUSE" }, one],
  [
    "a list of outcomes",
    { email: "a@x.example", outcome: ["abuse"] },
    "Parameter outcome must be text.",
  ],
  [
    "no address",
    { email: "x.example", outcome: "abuse" },
    "Parameter email must be an email address.",
  ],
  ["a number", { email: 5, outcome: "abuse" }, "Parameter email must be text."],
  [
    "an address and a mailbox",
    { email: "a@x.example", mailbox: ID, outcome: "abuse" },
    "Parameter mailbox must be absent when email is there: send one of them.",
  ],
  [
    "no id of a mailbox",
    { mailbox: "m_1", outcome: "abuse" },
    'Parameter mailbox must be "m_" and 26 characters, as mailbox.id of a decision.',
  ],
  [
    "a note that is too long",
    { email: "a@x.example", outcome: "abuse", note: "x".repeat(1_001) },
    "Parameter note must be text of at most 1000 characters.",
  ],
];

for (const [name, body, error] of REFUSALS) {
  test(`feedback is refused: ${name}`, async (t) => {
    const { report, world, account } = await openWorld(t);
    assert.deepEqual(await report(body), { status: 400, body: { error } });
    const rows = await world.store.sql.db.selectFrom("feedback").selectAll().execute();
    assert.deepEqual([rows, account.id.length], [[], 32]);
  });
}

test("feedback needs a secret key", async (t) => {
  const { report, world, account } = await openWorld(t);
  const body = { email: "a@x.example", outcome: "abuse" };
  assert.deepEqual(await report(body, null), { status: 401, body: { error: "API key required." } });
  assert.equal((await report(body, "gp_live_" + "0".repeat(40))).status, 401);
  const page = { origins: ["https://shop.example"], terms: { policy: "default", daily: 10 } };
  const made = await world.store.keys.create(account.id, "page", page);
  const refused = await report(body, made.apiKey);
  assert.deepEqual(
    [refused.status, refused.body["error"]],
    [403, "A publishable key works for /api/decide only."],
  );
});

test("feedback costs one of the rate and no unit, in JSON and in a form", async (t) => {
  const { report, world, account } = await openWorld(t);
  const recorded = { status: 200, body: { recorded: true } };
  assert.deepEqual(
    await report({ email: "a@good.example", outcome: "bounce", note: null }),
    recorded,
  );
  assert.deepEqual(
    await report({ mailbox: ID, outcome: "fine", note: "x".repeat(1_000) }),
    recorded,
  );
  const form = await inject(world.app, {
    method: "POST",
    url: "/api/feedback",
    payload: "email=a%2Bb@good.example&outcome=abuse&note=two+words",
    headers: { "x-api-key": account.apiKey, "content-type": "application/x-www-form-urlencoded" },
  });
  assert.equal(form.body, '{"recorded":true}');
  assert.equal(
    form.headers["x-ratelimit-remaining"],
    String(Number(form.headers["x-ratelimit-limit"]) - 3),
  );
  await world.flush();
  const { db } = world.store.sql;
  assert.deepEqual(
    await db.selectFrom("usage_days").select("units").where("units", ">", 0).execute(),
    [],
  );
  const notes = await db.selectFrom("feedback").select("note").execute();
  assert.deepEqual(
    notes.map(({ note }) => note.length).toSorted((a, b) => a - b),
    [0, 9, 1_000],
  );
});

test("abuse is a fact of the account's policies alone, of the mailbox and of its domain", async (t) => {
  const { world, account, report, decide } = await openWorld(t);
  const other = await world.account("ann@other.example");
  const rules = [
    { when: { mailbox_abused: { gte: 1 } }, then: "reject" },
    { when: { domain_abused: { gte: 2 } }, then: "review" },
  ];
  for (const { id } of [account, other]) await useRules(world, id, rules);
  const said = async (email: string, key?: string): Promise<string> => {
    const { decision, reason } = await decide(email, key);
    return `${decision} ${reason}`;
  };
  assert.equal(await said("jo@farm.example"), "accept ok");
  const { mailbox } = await decide("b@farm.example");
  await report({ email: "Jo+1@farm.example", outcome: "abuse" });
  assert.equal(await said("jo@farm.example"), "reject abuse");
  assert.equal(await said("a@farm.example"), "accept ok");
  await world.store.switches.switchLog(account.id, "on");
  await report({ email: "c@sub.farm.example", outcome: "abuse" });
  assert.equal(await said("a@farm.example"), "review abuse");
  await report({ mailbox: mailbox?.id, outcome: "abuse" });
  assert.equal(await said("b@farm.example"), "reject abuse");
  assert.equal(await said("jo@farm.example", other.apiKey), "accept ok");
  await report({ email: "jo@farm.example", outcome: "fine" });
  assert.equal(await said("jo@farm.example"), "accept ok", "taken back");
  for (let at = 0; at < 3; at += 1) {
    await report({ email: `m${String(at)}@gmail.com`, outcome: "abuse" });
  }
  assert.equal(await said("honest@gmail.com"), "accept ok", "strangers share a large provider");
});

test("feedback is forgotten after 90 days", async (t) => {
  const clock = manualClock();
  const { world, account, report, decide } = await openWorld(t, { clock });
  await useRules(world, account.id, [{ when: { mailbox_abused: { gte: 1 } }, then: "reject" }]);
  await report({ email: "jo@farm.example", outcome: "abuse" });
  clock.advance(89 * DAY_MS);
  assert.equal((await decide("jo@farm.example")).decision, "reject");
  clock.advance(DAY_MS);
  assert.equal((await decide("jo@farm.example")).decision, "accept");
});

test("a store that is away costs the facts, never the decision", async (t) => {
  const { world, account, report, decide } = await openWorld(t);
  await useRules(world, account.id, [{ when: { mailbox_abused: { gte: 1 } }, then: "reject" }]);
  await report({ email: "jo@farm.example", outcome: "abuse" });
  await world.store.sql.db.schema.dropTable("feedback").execute();
  assert.equal((await decide("jo@farm.example")).decision, "accept");
  assert.ok(world.log.events.includes("feedback.read_failed"));
  assert.equal((await report({ email: "jo@farm.example", outcome: "abuse" })).status, 500);
});

test("the decision log is off at first, and holds no address", async (t) => {
  const { world, account, call, decide } = await openWorld(t);
  await decide("secret.person@good.example");
  await world.flush();
  assert.deepEqual((await call("GET", "/api/decisions")).body, { decisions: [], next: null });
  await world.store.switches.switchLog(account.id, "on");
  const { mailbox } = await decide("secret.person@sub.good.example");
  await world.flush();
  const { status, body } = await call("GET", "/api/decisions");
  assert.equal(status, 200);
  const [first, ...others] = body["decisions"] as readonly Record<string, unknown>[];
  const { id, time, key, ...rest } = first ?? assert.fail();
  assert.match(String(id), /^\d{14}[0-9a-f]{10}$/);
  assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
  assert.equal(typeof key, "string");
  assert.deepEqual(rest, {
    decision: "reject",
    reason: "no_mail_server",
    rule: 5,
    policy: { name: "default", version: 1 },
    signals: ["no_mx_records"],
    registrable_domain: "good.example",
    mailbox: { id: mailbox?.id },
    form: null,
    hook: null,
    subject: null,
    complete: true,
    for: "signup",
    sources: [],
    shape: null,
  });
  assert.deepEqual(others, []);
  const stored = await world.store.sql.db.selectFrom("decisions").selectAll().execute();
  assert.doesNotMatch(JSON.stringify(stored), /secret|person|sub\.good/);
  await world.store.switches.switchLog(account.id, "off");
  assert.deepEqual((await call("GET", "/api/decisions")).body, { decisions: [], next: null });
});

test("decisions are paged newest first, and filtered", async (t) => {
  const { world, account, call } = await openWorld(t);
  await world.store.switches.switchLog(account.id, "on");
  const key = { "x-api-key": account.apiKey };
  for (let at = 0; at < 25; at += 1) {
    const email = `m${String(at)}@${at % 5 === 0 ? "bad" : "good"}.example`;
    await ask(world, { email, form: at % 2 === 0 ? "even" : "odd" }, key);
  }
  await ask(world, { email: "nonsense" }, key);
  await world.flush();
  const pages = async (query: string): Promise<readonly number[]> => {
    const sizes: number[] = [];
    const ids: string[] = [];
    let after = "";
    for (;;) {
      const { body } = await call("GET", `/api/decisions?${query}${after}`);
      const decisions = body["decisions"] as readonly { readonly id: string }[];
      sizes.push(decisions.length);
      ids.push(...decisions.map(({ id }) => id));
      if (body["next"] === null) break;
      after = `&after=${body["next"] as string}`;
    }
    assert.deepEqual(ids, [...new Set(ids)].toSorted().toReversed(), "newest first, none twice");
    return sizes;
  };
  assert.deepEqual(await pages("limit=10"), [10, 10, 6]);
  assert.deepEqual(await pages(""), [26]);
  assert.deepEqual(await pages("decision=reject&limit=6"), [6]);
  assert.deepEqual(await pages("decision=reject&reason=disposable"), [5]);
  assert.deepEqual(await pages("domain=good.example&form=odd"), [10]);
  assert.deepEqual(await pages("decision=challenge"), [0]);
  assert.deepEqual(await pages(`key=${"0".repeat(32)}`), [0]);
});

for (const [query, error] of [
  ["decision=maybe", "Parameter decision must be one of accept, challenge, review, reject."],
  ["after=x", "Parameter after must be the next of a page before."],
  ["limit=0", "Parameter limit must be a whole number from 1 to 100."],
  ["limit=101", "Parameter limit must be a whole number from 1 to 100."],
  [`reason=${"x".repeat(256)}`, "Parameter reason must be text of at most 255 characters."],
]) {
  test(`a page of decisions is refused: ${String(query).slice(0, 20)}`, async (t) => {
    const { call } = await openWorld(t);
    const url = `/api/decisions?${String(query)}`;
    assert.deepEqual(await call("GET", url), { status: 400, body: { error } });
  });
}

test("decisions of another account are not seen, and nobody reads without a key", async (t) => {
  const { world, account, call, decide } = await openWorld(t);
  const other = await world.account("ann@other.example");
  for (const { id } of [account, other]) await world.store.switches.switchLog(id, "on");
  await decide("jo@good.example");
  await world.flush();
  const seen = await call("GET", "/api/decisions", { key: other.apiKey });
  assert.deepEqual(seen.body, { decisions: [], next: null });
  assert.equal((await call("GET", "/api/decisions", { key: null })).status, 401);
  assert.equal((await call("POST", "/api/decisions", { payload: {} })).status, 405);
});

test("quotes that are not needed and Unicode's forms make no other mailbox", async (t) => {
  const { report, decide, world, account } = await openWorld(t, {
    known: { addresses: { "jodoe@good.example": "deny" } },
  });
  for (const email of ['"jodoe"@good.example', '"jo\\doe"@good.example', "JoDoe@good.example"]) {
    const { decision, result } = await decide(email);
    assert.deepEqual([decision, result?.disposable], ["reject", true], email);
  }
  const spellings = [
    '"jö"@gmail.com',
    "jo\u0308@gmail.com",
    '"j\\o\u0308"@gmail.com',
    "jö@gmail.com",
  ];
  await report({ email: spellings[0], outcome: "abuse" });
  await useRules(world, account.id, [
    { when: { mailbox_abused: { gte: 1 } }, then: "reject", reason: "abuse" },
  ]);
  const answers = await Promise.all(spellings.map((email) => decide(email)));
  assert.equal(new Set(answers.map(({ mailbox }) => mailbox?.id)).size, 1);
  for (const { reason } of answers) assert.equal(reason, "abuse");
});

test("a domain behind a large proxy is accepted, unless a rule or a policy names its mail server", async (t) => {
  const host = "_dc-mx.0a1b2c3d4e5f.cf-dc.example";
  const zone = { ...ZONE, "cf-dc.example": { mx: [`10 ${host}`] }, [host]: { a: ["192.0.2.1"] } };
  const accepting = await openWorld(t, { zone });
  const accepted = await accepting.decide("jo@cf-dc.example");
  assert.deepEqual([accepted.decision, accepted.result?.mx_info], ["accept", [host]]);
  await useRules(accepting.world, accepting.account.id, [
    { when: { mx: host }, then: "review", reason: "proxy" },
  ]);
  assert.equal((await accepting.decide("jo@cf-dc.example")).reason, "proxy");
});

test("characters that the provider gives to no mailbox are asked about, never refused", async (t) => {
  const { decide } = await openWorld(t);
  for (const email of ["===@gmail.com", "jo_doe@gmail.com"]) {
    const { decision, reason, message, did_you_mean: meant, result } = await decide(email);
    assert.deepEqual([decision, reason, meant], ["challenge", "typo", undefined], email);
    assert.equal(message, "Please check the spelling of your email address.");
    assert.deepEqual(result?.signals, ["typo_local_part"]);
  }
  assert.equal((await decide("jo.doe+a_b@gmail.com")).decision, "accept");
});
