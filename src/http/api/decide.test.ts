import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageLedger } from "../../accounts/admission/usage.ts";
import { dayOf } from "../../core/calendar.ts";
import type { Keys } from "../../accounts/key-store.ts";
import { accountKey } from "../../base/owner.ts";
import type { Lookup, UnknownReason } from "../../core/mail/lookup.ts";
import { StoreDown } from "../../base/store-down.ts";
import { gateWorld, SILENT } from "../../../test/policy/gate-world.ts";
import { KNOWN, ask } from "../../../test/policy/asked-decision.ts";
import { givenTime } from "../../../test/time/given-time.ts";
import { inject } from "../../../test/http/inject.ts";

const SAID: readonly [name: string, payload: object | string, want: string][] = [
  ["a good address", { email: "jo@good.example" }, "accept ok"],
  ["bad format", { email: "jo@" }, "reject format"],
  ["a disposable address", { email: "jo@bad.example" }, "reject disposable"],
  ["no mail server", { email: "jo@nowhere.example" }, "reject no_mail_server"],
  ["an allowed domain without mail", { email: "jo@vip.example" }, "accept allowed"],
  ["a typo", { email: "jo@gmial.com" }, "challenge typo"],
  ["a malformed typo", { email: "jo@gmail..com" }, "reject format"],
  [
    "a form",
    "email=a+b%40good.example&deadline_ms=500&facts=%7B%22plan%22%3A%22x%22%7D",
    "accept ok",
  ],
  [
    "null for what is not given",
    { email: "jo@good.example", form: null, facts: null },
    "accept ok",
  ],
  ["a deadline as text", { email: "jo@good.example", deadline_ms: "700" }, "accept ok"],
];

for (const [name, payload, want] of SAID) {
  test(`a decision without a key: ${name}`, async (t) => {
    const { status, answer } = await ask(await gateWorld(t, KNOWN), payload);
    assert.equal(status, 200);
    assert.equal(`${answer.decision} ${answer.reason}`, want);
    assert.deepEqual(answer.policy, { name: "default", version: 1 });
    assert.equal(answer.mailbox, undefined);
    assert.equal(answer.message === undefined, answer.decision === "accept");
  });
}

const EMAIL = { email: "jo@good.example" };

const REFUSED: readonly [name: string, payload: object | string, status: number, error: RegExp][] =
  [
    [
      "an early deadline",
      { ...EMAIL, deadline_ms: 49 },
      400,
      /deadline_ms must be a whole number from 50 to 5000/,
    ],
    ["a late deadline", { ...EMAIL, deadline_ms: 5_001 }, 400, /deadline_ms/],
    ["half a millisecond", { ...EMAIL, deadline_ms: 100.5 }, 400, /deadline_ms/],
    ["a deadline in words", "email=a%40b.example&deadline_ms=soon", 400, /deadline_ms/],
    ["a long form", { ...EMAIL, form: "x".repeat(65) }, 400, /form must be one line of at most 64/],
    ["a form over two lines", { ...EMAIL, form: "a\nb" }, 400, /form must be one line/],
    [
      "facts that are no object",
      { ...EMAIL, facts: [1] },
      400,
      /facts must be an object of at most 16/,
    ],
    ["facts that are no JSON", "email=a%40b.example&facts=plan", 400, /facts must be/],
    ["a fact with a bad name", { ...EMAIL, facts: { Plan: 1 } }, 400, /facts must be/],
    [
      "17 facts",
      { ...EMAIL, facts: Object.fromEntries("abcdefghijklmnopq".split("").map((n) => [n, 1])) },
      400,
      /at most 16/,
    ],
    ["an unknown policy", { ...EMAIL, policy: "b2b" }, 404, /^No such policy\.$/],
    ["a policy that is a path", { ...EMAIL, policy: "../default" }, 404, /^No such policy\.$/],
  ];

for (const [name, payload, status, error] of REFUSED) {
  test(`refused uncharged: ${name}`, async (t) => {
    const world = await gateWorld(t);
    const reply = await ask(world, payload);
    assert.equal(reply.status, status);
    const body = reply.answer as unknown as Record<string, string>;
    assert.deepEqual(Object.keys(body), ["error"]);
    assert.match(body["error"] ?? "", error);
    assert.equal(reply.headers["access-control-allow-origin"], "*");
    assert.equal(reply.headers["x-ratelimit-limit"], "30");
  });
}

test("GET is 405, and the keys of the answer are in the contract's order", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { statusCode, headers } = await inject(world.app, "/api/decide?email=a@b.example");
  assert.deepEqual([statusCode, headers["allow"]], [405, "POST, OPTIONS"]);
  const { apiKey } = await world.account("jo@shop.example");
  const payload = { email: "jo@gmial.com", token: true };
  const { answer } = await ask(world, payload, { "x-api-key": apiKey });
  assert.deepEqual(Object.keys(answer), [
    "decision",
    "reason",
    "message",
    "did_you_mean",
    "complete",
    "policy",
    "mailbox",
    "result",
    "token",
  ]);
  assert.equal(answer.did_you_mean, "jo@gmail.com");
});

for (const language of ["de", "xx;q=0.9, de-AT;q=0.8, en;q=0.1", "en;q=0.2,de"]) {
  test(`the message is German for "${language}"`, async (t) => {
    const { answer } = await ask(await gateWorld(t, KNOWN), { email: "jo@gmailcom", language });
    assert.match(answer.message ?? "", /Meinten Sie jo@gmail\.com\?$/);
  });
}

const MALFORMED: readonly [email: string, meant: string | undefined][] = [
  ["jo@gmail..com", "jo@gmail.com"],
  [" jo@gmailcom ", "jo@gmail.com"],
  ["jo@web.d", "jo@web.de"],
  ["gmailcom", undefined],
  ["jo doe@gmailcom", undefined],
];

for (const [email, meant] of MALFORMED) {
  test(`a malformed address stays rejected, with what was meant: ${email}`, async (t) => {
    const { answer } = await ask(await gateWorld(t, KNOWN), { email, language: "de" });
    assert.equal(`${answer.decision} ${answer.reason}`, "reject format");
    assert.equal(answer.did_you_mean, meant);
    const question = `Meinten Sie ${meant ?? ""}?`;
    assert.equal(answer.message?.endsWith(question) === true, meant !== undefined, answer.message);
    assert.ok(!("did_you_mean" in (answer.result ?? {})), "a field of typo_domain alone");
  });
}

const failing = (why: UnknownReason): Lookup => ({
  ...SILENT,
  mx: () => ({ kind: "unknown", why }),
  addresses: () => ({ kind: "unknown", why }),
});

test("silent DNS: a page's listed address is refused at once, an honest one is accepted by the deadline", async (t) => {
  const given = givenTime();
  t.after(() => given.stop());
  const world = await gateWorld(t, { ...KNOWN, lookup: SILENT });
  const { id } = await world.account("jo@shop.example");
  const made = await world.store.keys.create(id, "page", { origins: ["https://shop.example"] });
  const headers = { "x-api-key": made.apiKey, origin: "https://shop.example" };
  const decide = async (email: string) => {
    const startedMs = given.nowMs();
    const { answer } = await ask(world, { email, deadline_ms: 1_000 }, headers);
    return { ...answer, tookMs: given.nowMs() - startedMs };
  };
  const bad = await decide("jo@n1.bad.example");
  assert.deepEqual([bad.decision, bad.reason, bad.complete], ["reject", "disposable", false]);
  assert.ok(bad.token !== undefined && bad.result === undefined && bad.mailbox === undefined);
  assert.ok(bad.tookMs < 500, `${bad.tookMs.toFixed(0)} ms`);
  const good = await decide("jo@good.example");
  assert.deepEqual([good.decision, good.reason, good.complete], ["accept", "unknown", false]);
  assert.ok(good.tookMs <= 1_050, `${good.tookMs.toFixed(0)} ms`);
  await world.flush();
  const reasons = (await world.outcomes.ofAccount(id, 0)).map(({ reason }) => reason);
  assert.deepEqual(reasons.toSorted(), ["disposable", "unknown"], "both are counted");
});

test("a fault of the check leaves what is known: a listed address is refused, and nothing is charged", async (t) => {
  const lookup = { ...SILENT, mx: () => Promise.reject(new Error("a fault")) };
  const world = await gateWorld(t, { ...KNOWN, lookup });
  const { apiKey } = await world.account("jo@shop.example");
  for (const [email, want] of [
    ["jo@bad.example", "reject disposable false"],
    ["jo@good.example", "accept unknown false"],
  ] as const) {
    const { status, answer } = await ask(world, { email }, { "x-api-key": apiKey });
    assert.equal(status, 200);
    const { decision, reason, complete } = answer;
    assert.equal(`${decision} ${reason} ${String(complete)}`, want);
  }
  assert.match(world.log.text(), /decide\.failed/);
});
for (const [does, lookup] of [
  ["is silent", SILENT],
  ["denies everything, and is suspect", failing("suspect")],
  ["fails", failing("servfail")],
  ["gives up by itself", failing("timeout")],
] as const) {
  test(`DNS that ${does}: the answer is there by the deadline, lists and format all the same`, async (t) => {
    const world = await gateWorld(t, { ...KNOWN, lookup });
    const cases = [
      ["jo@good.example", "accept unknown", false],
      ["jo@bad.example", "reject disposable", false],
      ["jo@gmial.com", "challenge typo", false],
      ["jo@", "reject format", true],
    ] as const;
    await Promise.all(
      cases.map(async ([email, want, complete]) => {
        const { answer } = await ask(world, { email, deadline_ms: 60 });
        assert.equal(`${answer.decision} ${answer.reason}`, want);
        assert.equal(answer.complete, complete);
      }),
    );
  });
}

test("a store of policies that is away or silent leaves the built-in policy", async (t) => {
  const away = { inForce: () => Promise.reject(new Error("connection lost")) };
  const silent = { inForce: () => new Promise<never>(() => undefined) };
  for (const store of [away, silent]) {
    const world = await gateWorld(t, { ...KNOWN, policyStore: () => store });
    const { apiKey } = await world.account("jo@shop.example");
    const payload = { email: "jo@bad.example", deadline_ms: 80 };
    const { status, answer } = await ask(world, payload, { "x-api-key": apiKey });
    assert.deepEqual([status, answer.decision, answer.policy.version], [200, "reject", 1]);
  }
});

test("an account's own policy decides at once, with the caller's facts and its words", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id, apiKey } = await world.account("jo@shop.example");
  const account = (await world.store.accounts.find(id)) ?? assert.fail();
  const message = { en: "Not on trial.", de: "Nicht im Test." };
  const document = { rules: [{ when: { "caller.plan": "trial" }, then: "review", message }] };
  await ask(world, EMAIL, { "x-api-key": apiKey }); // so that the built-in one is remembered
  const by = { account, author: account.email };
  assert.deepEqual(await world.policies.save(by, "default", document, "live"), {
    name: "default",
    version: 2,
  });
  const trial = { ...EMAIL, facts: { plan: "trial" }, language: "de-AT" };
  const { answer } = await ask(world, trial, { "x-api-key": apiKey });
  assert.deepEqual(
    [answer.decision, answer.reason, answer.message, answer.policy.version],
    ["review", "caller", "Nicht im Test.", 2],
  );
  const paid = await ask(world, { ...EMAIL, facts: { plan: "paid" } }, { "x-api-key": apiKey });
  assert.equal(paid.answer.decision, "accept");
  const stranger = await ask(world, trial);
  assert.deepEqual(stranger.answer.policy, { name: "default", version: 1 });
});

test("spellings are counted until the account says no", async (t) => {
  const world = await gateWorld(t);
  const { id, apiKey } = await world.account("jo@shop.example");
  const seenOf = async (email: string): Promise<number | undefined> =>
    (await ask(world, { email }, { "x-api-key": apiKey })).answer.mailbox?.seen;
  const emails = ["jo@gmail.com", "j.o@gmail.com", "jo+a@gmail.com", "jo@gmail.com"];
  for (const [at, email] of emails.entries()) assert.equal(await seenOf(email), [1, 2, 3, 3][at]);
  await world.store.switches.switchTraffic(id, "off");
  assert.equal(await seenOf("jo@gmail.com"), undefined);
  await world.store.switches.switchTraffic(id, "on");
  assert.equal(await seenOf("j.o@gmail.com"), 1, "what was counted before is gone");
});

test("a shadow is counted and never shown, and the counts are exactly those of its own life", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id, apiKey } = await world.account("jo@shop.example", "pro");
  const account = (await world.store.accounts.find(id)) ?? assert.fail();
  const strict = { rules: [{ when: { disposable: true }, then: "review" }], else: "challenge" };
  await world.policies.save({ account, author: "jo" }, "default", strict, "shadow");
  const emails = ["a@good.example", "b@bad.example", "c@good.example", "c@good.example", "d@"];
  for (const email of emails) {
    const { answer } = await ask(world, { email }, { "x-api-key": apiKey });
    assert.equal(answer.policy.version, 1);
    assert.notEqual(answer.decision, "review");
  }
  await world.flush();
  const report = await world.policies.shadowReport(id, "default", 30);
  assert.deepEqual(report.pairs, [
    { live: "accept", shadow: "challenge", count: 3 },
    { live: "reject", shadow: "challenge", count: 1 },
    { live: "reject", shadow: "review", count: 1 },
  ]);
  assert.deepEqual([report.total, report.changed], [5, 5]);
  const { counts } = await world.policies.ruleCounts(id, "default", 30);
  const live = counts.filter(({ version }) => version === 1);
  assert.equal(
    live.reduce((all, { count }) => all + count, 0),
    5,
  );
  assert.deepEqual(
    counts.filter(({ version }) => version === 2),
    [
      { version: 2, rule: null, count: 4 },
      { version: 2, rule: 0, count: 1 },
    ],
  );
  assert.deepEqual(
    report.domains.map(({ domain, count }) => [domain, count]),
    [
      ["good.example", 3],
      ["bad.example", 1],
    ],
  );
});

const STORES: readonly [name: string, find: () => Promise<never>][] = [
  ["never answers", () => new Promise(() => undefined)],
  ["is away", () => Promise.reject(new StoreDown("closed"))],
];

for (const [name, find] of STORES) {
  test(`a decision is sent by the deadline when the store of keys ${name}`, async (t) => {
    const world = await gateWorld(t, {
      ...KNOWN,
      keys: (keys) => Object.assign(keys, { holder: find }),
    });
    const { apiKey } = await world.account("jo@shop.example");
    const headers = { "x-api-key": apiKey };
    const asked = { policy: "shop", deadline_ms: 50 };
    const good = await ask(world, { ...asked, email: "jo@good.example" }, headers);
    assert.deepEqual([good.status, good.answer.decision], [200, "accept"]);
    const bad = await ask(world, { ...asked, email: "jo@bad.example" }, headers);
    assert.deepEqual([bad.status, bad.answer.decision], [200, "reject"]);
    assert.equal(bad.answer.policy.name, "default");
  });

  test(`a page reads neither result nor token when the store of keys ${name}`, async (t) => {
    const world = await gateWorld(t, {
      ...KNOWN,
      keys: (keys) => Object.assign(keys, { holder: find }),
    });
    const { id } = await world.account("jo@shop.example");
    const made = await world.store.keys.create(id, "page", { origins: ["https://shop.example"] });
    const headers = { "x-api-key": made.apiKey, origin: "https://shop.example" };
    const { status, answer } = await ask(world, { ...EMAIL, deadline_ms: 50 }, headers);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(answer), ["decision", "reason", "complete", "policy"]);
  });
}

test("while the store of keys is away, a server's sign-ups are decided beyond the rate of an address", async (t) => {
  const away = (): Promise<never> => Promise.reject(new StoreDown("closed"));
  const world = await gateWorld(t, {
    ...KNOWN,
    keys: (keys) => Object.assign(keys, { holder: away }),
  });
  const { apiKey } = await world.account("jo@shop.example");
  const asked = Array.from({ length: 40 }, () => ask(world, EMAIL, { "x-api-key": apiKey }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  assert.deepEqual(statuses, Array<number>(40).fill(200));
});

test("callers who are known too late count by address, and are charged for what was served", async (t) => {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const slow = (keys: Keys): Keys => {
    const holder = keys.holder.bind(keys);
    return Object.assign(keys, { holder: (hash: string) => begun.then(() => holder(hash)) });
  };
  const world = await gateWorld(t, { ...KNOWN, keys: slow });
  const { id, apiKey } = await world.account("jo@shop.example");
  const asked = [
    { deadline_ms: 50 },
    { ...EMAIL, deadline_ms: 50, form: "two\nlines" },
    ...Array<object>(38).fill({ ...EMAIL, deadline_ms: 50 }),
  ];
  const answers = await Promise.all(asked.map((one) => ask(world, one, { "x-api-key": apiKey })));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [...Array<number>(39).fill(200), 400]);
  begin();
  const known = await ask(world, EMAIL, { "x-api-key": apiKey });
  assert.equal(known.headers["x-ratelimit-remaining"], "459", "each took one of the rate");
  await world.flush();
  const { inDay } = await new UsageLedger(world.store.sql.db).unitsUsed(
    accountKey(id),
    dayOf(Date.now()),
  );
  assert.equal(inDay, 30, "neither a refusal nor what is beyond the rate is charged");
});

const LONG = `${"a".repeat(100_000)}@good.example`;
const LONG_BODIES: readonly [name: string, payload: object | string][] = [
  ["in JSON", { email: LONG, deadline_ms: 500 }],
  ["in JSON, of nearly a MiB", { email: "@a.".repeat(349_000) }],
  ["in a form", `email=${encodeURIComponent(LONG)}`],
  ["in a form, percent-encoded", `email=${"%40".repeat(300_000)}`],
];

for (const [name, payload] of LONG_BODIES) {
  test(`an address that is far too long is malformed: ${name}`, async (t) => {
    const { status, answer } = await ask(await gateWorld(t, KNOWN), payload);
    assert.deepEqual([status, answer.decision, answer.reason], [200, "reject", "format"]);
    assert.ok(JSON.stringify(answer).length < 1_000, "it is not sent back");
  });
}

test("a body that is too large for a decision is refused in words of its own", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { status, answer } = await ask(world, { email: "a".repeat(1_048_576) });
  assert.equal(status, 413);
  assert.deepEqual(answer, { error: "The body is too large for a decision." });
});

test("a body of too many values is decided, unread", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { status, answer } = await ask(world, { email: Array<number>(250_001).fill(1) });
  assert.equal(status, 200);
  assert.deepEqual([answer["decision"], answer["reason"]], ["reject", "format"]);
});

const LANGUAGES: readonly [language: string, message: string][] = [
  ["de", "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse."],
  ["DE-at", "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse."],
  ["de-x-0123456789-0123456789-0123456789", "Please use a permanent email address."],
  ["de_DE", "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse."],
  ["tlh, de;q=0.8, en;q=0.5", "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse."],
  ["de jo@good.example", "Please use a permanent email address."],
  ["tlh", "Please use a permanent email address."],
];

for (const [language, message] of LANGUAGES) {
  test(`the language "${language}"`, async (t) => {
    const { answer } = await ask(await gateWorld(t, KNOWN), { email: "jo@bad.example", language });
    assert.equal(answer.message, message);
  });
}

test("no question is answered with what was kept for another", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const planted = { ...EMAIL, language: "en a," };
  assert.equal((await ask(world, planted)).answer.decision, "accept");
  const { answer } = await ask(world, { email: "a, jo@good.example" });
  assert.equal(`${answer.decision} ${answer.reason}`, "reject format");
});
