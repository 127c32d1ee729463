import type { HookSystem } from "../../core/policy/outcomes.ts";
import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import { RECORDED } from "../../../test/policy/recorded-payloads.ts";

const REFUSALS: Readonly<Record<Exclude<HookSystem, "standard">, readonly [number, string]>> = {
  supabase: [200, '{"error":{"http_code":400,"message":"Please use a permanent email address."}}'],
  kratos: [
    400,
    '{"messages":[{"instance_ptr":"#/traits/email","messages":[{"id":1234,"text":"Please use a permanent email address.","type":"error"}]},{"instance_ptr":"#/","messages":[{"id":1234,"text":"Please use a permanent email address.","type":"error"}]}]}',
  ],
  zitadel: [
    200,
    '{"forwardedStatusCode":400,"forwardedErrorMessage":"Please use a permanent email address."}',
  ],
  fusionauth: [422, '{"error":"Please use a permanent email address."}'],
  neon: [
    200,
    '{"allowed":false,"error_message":"Please use a permanent email address.","error_code":"EMAIL_REJECTED"}',
  ],
};

const ACCEPTED: Readonly<Record<Exclude<HookSystem, "standard">, readonly [number, string]>> = {
  supabase: [200, "{}"],
  kratos: [204, ""],
  zitadel: [200, ""],
  fusionauth: [200, ""],
  neon: [200, '{"allowed":true}'],
};

const SYSTEMS = ["supabase", "kratos", "zitadel", "fusionauth", "neon"] as const;

const neonKey = generateKeyPairSync("ed25519");
const NEON_JWKS = [{ ...neonKey.publicKey.export({ format: "jwk" }), kid: "k1" }];

function neonHeaders(body: string): Record<string, string> {
  const head = Buffer.from('{"alg":"EdDSA","kid":"k1"}').toString("base64url");
  const timestamp = String(performance.timeOrigin + performance.now()).split(".")[0] ?? "";
  const inner = `${timestamp}.${Buffer.from(body).toString("base64url")}`;
  const input = `${head}.${Buffer.from(inner).toString("base64url")}`;
  const signature = sign(null, Buffer.from(input), neonKey.privateKey).toString("base64url");
  return { "x-neon-timestamp": timestamp, "x-neon-signature": `${head}..${signature}` };
}

for (const system of SYSTEMS) {
  test(`${system}: accepted, refused and forged calls are answered in its own words`, async (t) => {
    const world = await hookWorld(t, { jwks: NEON_JWKS });
    const hook = await world.hook(system);
    const call = async (email: string, change: (body: string) => string = (body) => body) => {
      const body = RECORDED[system].replace("SUB", email);
      const headers = system === "neon" ? neonHeaders(body) : world.signed(hook, body);
      return await world.post(hook.id, change(body), headers);
    };
    assert.deepEqual(await call("jo@good.example"), ACCEPTED[system]);
    assert.deepEqual(await call("jo@bad.example"), REFUSALS[system]);
    assert.deepEqual(await call(" JO@BAD.EXAMPLE "), REFUSALS[system]);
    assert.deepEqual(await call(""), ACCEPTED[system], "a sign-up by phone has no address");
    // A typo is a challenge, which the hook accepts.
    assert.deepEqual(await call("jo@gmial.com"), ACCEPTED[system]);
    const forged =
      system === "kratos"
        ? await world.post(hook.id, "{}", {})
        : await call("jo@good.example", (body) => `${body} `);
    assert.equal(forged[0], 401);
    assert.equal(await world.units(), 4, "neither the phone nor the forgery costs a unit");
    const [row] = await world.list(world.accountId);
    assert.deepEqual(row?.calls, {
      accepted: 3,
      refused: 2,
      failed_open: 0,
      late: 0,
      unread: 0,
      unauthenticated: 1,
    });
    assert.equal(row.last_failure?.outcome, "unauthenticated");
  });
}

test("a challenge is refused where the hook says so", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("supabase", "reject");
  const body = RECORDED.supabase.replace("SUB", "jo@gmial.com");
  const [status, text] = await world.post(hook.id, body, world.signed(hook, body));
  assert.equal(status, 200);
  assert.match(text, /Did you mean jo@gmail\.com\?/);
});

test("a Standard Webhooks sender gets the decision itself", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("standard");
  const body = RECORDED.standard.replace("SUB", "jo@bad.example");
  const [status, text] = await world.post(hook.id, body, world.signed(hook, body));
  assert.equal(status, 200);
  const { decision, reason } = JSON.parse(text) as Record<string, string>;
  assert.deepEqual([decision, reason], ["reject", "disposable"]);
});

test("when the rate is spent, no throwaway gets in, and the operator sees why", async (t) => {
  const world = await hookWorld(t, { tier: "free" });
  const hook = await world.hook("kratos");
  const call = (email: string) => {
    const body = RECORDED.kratos.replace("SUB", email);
    return world.post(hook.id, body, world.signed(hook, body));
  };
  const answers = await Promise.all(Array.from({ length: 620 }, () => call("jo@bad.example")));
  assert.ok(answers.every(([status]) => status === 400));
  assert.deepEqual(await call("jo@none.example"), [204, ""], "DNS is not asked");
  assert.equal((await call("jo@@none.example"))[0], 400, "the format still decides");
  const [row] = await world.list(world.accountId);
  assert.deepEqual(row?.calls, {
    accepted: 0,
    refused: 621,
    failed_open: 1,
    late: 0,
    unread: 0,
    unauthenticated: 0,
  });
  assert.match(row.last_failure?.why ?? "", /^accept: unknown \(without DNS: Rate limit exceeded/);
  assert.ok((await world.charged()) <= 60, "what is beyond the rate is not charged");
});

test("the decision that a Standard Webhooks sender gets beyond the rate says that it is incomplete", async (t) => {
  const world = await hookWorld(t, { tier: "free" });
  const hook = await world.hook("standard");
  const decide = async (email: string) => {
    const body = RECORDED.standard.replace("SUB", email);
    const [, text] = await world.post(hook.id, body, world.signed(hook, body));
    const { decision, complete } = JSON.parse(text) as Record<string, unknown>;
    return [decision, complete];
  };
  assert.deepEqual(await decide("jo@good.example"), ["accept", true]);
  for (let call = 0; call < 60; call += 1) await decide("jo@good.example");
  assert.deepEqual(await decide("jo@bad.example"), ["reject", false]);
  assert.deepEqual(await decide("jo@good.example"), ["accept", false]);
});

/** What else a body may hold; each is answered like the first column says. */
const ODD: readonly [name: string, system: HookSystem, body: string, want: "accept" | "reject"][] =
  [
    ["no JSON", "kratos", 'email=jo@bad.example "', "accept"],
    ["an array", "kratos", '["jo@bad.example"]', "accept"],
    ["null", "supabase", "null", "accept"],
    ["an address in an array", "standard", '{"email":["jo@bad.example"]}', "reject"],
    ["an address that is a number", "kratos", '{"email":5}', "reject"],
    [
      "an address that is an object",
      "supabase",
      '{"user":{"email":{"a":"b@good.example"}}}',
      "reject",
    ],
    ["an address that is null", "kratos", '{"email":null}', "accept"],
    ["blanks as address", "kratos", '{"email":" \\t"}', "accept"],
    ["no address", "zitadel", '{"request":{"human":{}}}', "accept"],
    [
      "an address twice: the last counts",
      "kratos",
      '{"email":"jo@good.example","email":"jo@bad.example"}',
      "reject",
    ],
    ["a prototype", "kratos", '{"__proto__":{"email":"jo@bad.example"}}', "accept"],
    ["a byte order mark", "kratos", '\ufeff{"email":"jo@bad.example"}', "reject"],
    [
      "deep nesting",
      "kratos",
      `{"a":${"[".repeat(300_000)}${"]".repeat(300_000)},"email":"jo@bad.example"}`,
      "reject",
    ],
    ["a domain in other letters", "kratos", '{"email":"jo@BÄD.example"}', "reject"],
    ["a local part in other letters", "kratos", '{"email":"jürgen@good.example"}', "accept"],
    ["characters that nobody sees", "kratos", '{"email":"jo\u200b@good.example"}', "reject"],
    [
      "whole traits",
      "kratos",
      '{"ctx":{"identity":{"traits":{"email":"jo@bad.example"}}}}',
      "reject",
    ],
    [
      "ZITADEL's older call",
      "zitadel",
      '{"request":{"email":{"email":"jo@bad.example"}}}',
      "reject",
    ],
    [
      "another Supabase hook",
      "supabase",
      '{"metadata":{"name":"send-email"},"user":{"email":"jo@bad.example"}}',
      "accept",
    ],
    [
      "an anonymous account",
      "supabase",
      '{"user":{"email":"x@bad.example","is_anonymous":true}}',
      "accept",
    ],
    [
      "a phone",
      "supabase",
      '{"user":{"email":"","phone":"4915","app_metadata":{"provider":"phone"}}}',
      "accept",
    ],
    [
      "a wallet",
      "neon",
      '{"user":{"email":"0x1@bad.example"},"event_data":{"auth_provider":"siwe"}}',
      "accept",
    ],
    [
      "a person who claims to be anonymous",
      "supabase",
      '{"user":{"email":"x@bad.example","user_metadata":{"is_anonymous":true,"provider":"phone"}}}',
      "reject",
    ],
    [
      "a sign-in",
      "fusionauth",
      '{"event":{"type":"user.login.success","user":{"email":"jo@bad.example"}}}',
      "accept",
    ],
    [
      "a registration",
      "fusionauth",
      '{"event":{"type":"user.registration.create","user":{"email":"jo@bad.example"}}}',
      "reject",
    ],
    [
      "a completed creation",
      "fusionauth",
      '{"event":{"type":"user.create.complete","user":{"email":"jo@bad.example"}}}',
      "accept",
    ],
    [
      "a completed registration",
      "fusionauth",
      '{"event":{"type":"user.registration.create.complete","user":{"email":"jo@bad.example"}}}',
      "accept",
    ],
    [
      "a completed change of address",
      "fusionauth",
      '{"event":{"type":"user.email.update.complete","user":{"email":"jo@bad.example"}}}',
      "accept",
    ],
    [
      "a change of address",
      "zitadel",
      '{"fullMethod":"/zitadel.user.v2.UserService/SetEmail","request":{"userId":"1","email":"jo@bad.example"}}',
      "reject",
    ],
    [
      "an imported user",
      "zitadel",
      '{"fullMethod":"/zitadel.management.v1.ManagementService/ImportHumanUser","request":{"userName":"jo","email":{"email":"jo@bad.example","isEmailVerified":true}}}',
      "reject",
    ],
    ["an address that is blank", "zitadel", '{"request":{"email":{"email":""}}}', "accept"],
    ["a machine", "zitadel", '{"request":{"machine":{"name":"bot"}}}', "accept"],
    [
      "a bulk import",
      "fusionauth",
      '{"event":{"type":"user.bulk.create","users":[{"email":"jo@bad.example"}]}}',
      "accept",
    ],
  ];

for (const [name, system, body, want] of ODD) {
  test(`${system}: ${name} is answered with ${want}, and nothing of it is logged`, async (t) => {
    const world = await hookWorld(t, { jwks: NEON_JWKS });
    const hook = await world.hook(system);
    const headers = system === "neon" ? neonHeaders(body) : world.signed(hook, body);
    const [status, text] = await world.post(hook.id, body, headers);
    assert.notEqual(status, 401);
    const { decision = want } = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    assert.equal(decision, want);
    if (system !== "standard") {
      const isAccepted = ACCEPTED[system][0] === status && ACCEPTED[system][1] === text;
      assert.equal(isAccepted ? "accept" : "reject", want, text);
    }
    assert.doesNotMatch(world.logged(), /jo|example/);
  });
}

test("Kratos: the message stands at the trait that the payload names, if it is one", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("kratos");
  for (const [told, want] of [
    ["#/traits/contact/mail", "#/traits/contact/mail"],
    ["#/identity", "#/traits/email"],
    [["#/traits/x"], "#/traits/x"],
    [5, "#/traits/email"],
  ] as const) {
    const body = JSON.stringify({ email: "jo@bad.example", instance_ptr: told });
    const [, text] = await world.post(hook.id, body, world.signed(hook, body));
    const { messages } = JSON.parse(text) as { messages: { instance_ptr: string }[] };
    assert.deepEqual(
      messages.map(({ instance_ptr }) => instance_ptr),
      [want, "#/"],
    );
  }
});

test("what the payload says of the person reaches the policy, and the words are in their language", async (t) => {
  const world = await hookWorld(t);
  await world.policy("sso", {
    rules: [
      {
        when: { "caller.provider": "google", "caller.language": "de-AT" },
        then: "reject",
        reason: "role",
      },
      { when: { "caller.anonymous": false }, then: "reject", reason: "disposable" },
    ],
    else: "accept",
  });
  const hook = await world.hook("supabase", "accept", "sso");
  const words = async (user: object) => {
    const body = JSON.stringify({ user: { email: "jo@good.example", ...user } });
    const [, text] = await world.post(hook.id, body, world.signed(hook, body));
    return (JSON.parse(text) as { error?: { message: string } }).error?.message;
  };
  const google = { app_metadata: { provider: "google" } };
  const german = { user_metadata: { locale: "de_AT" } };
  assert.match((await words({ ...google, ...german })) ?? "", /^Bitte verwenden Sie Ihre eigene/);
  assert.equal(await words(google), undefined);
  assert.match((await words({ is_anonymous: false })) ?? "", /^Please use a permanent/);
});

/** Signed, but not what the system sends. */
const FOREIGN: readonly [system: HookSystem, from: HookSystem][] = [
  ["standard", "zitadel"],
  ["standard", "fusionauth"],
  ["zitadel", "supabase"],
  ["kratos", "zitadel"],
];

for (const [system, from] of FOREIGN) {
  test(`${system}: a payload of ${from} is accepted unread, and told for an hour`, async (t) => {
    const world = await hookWorld(t);
    const hook = await world.hook(system);
    const call = (payload: string) => world.post(hook.id, payload, world.signed(hook, payload));
    assert.ok((await call(RECORDED[from].replace("SUB", "jo@bad.example")))[0] < 300);
    const [row] = await world.list(world.accountId);
    assert.deepEqual([row?.calls.unread, row?.calls.accepted], [1, 0]);
    assert.match((await world.service.unreadCall(hook)) ?? "", /is not one of this system/);
    const example = world.service.example(hook, "jo@bad.example");
    await world.post(hook.id, example.body, { ...example.headers });
    assert.ok((await world.list(world.accountId))[0]?.calls.refused === 0, "a test is no call");
    const read = async () => {
      await call(RECORDED[system].replace("SUB", "jo@good.example"));
      await world.list(world.accountId);
      return world.service.unreadCall(hook);
    };
    assert.match((await read()) ?? "", /is not one of this system/, "one of two is not read");
    world.clock.advance(3_600_001);
    assert.equal(await read(), undefined);
    assert.equal(await world.units(), 3);
  });
}

test("wrong signatures are refused beyond 60 a minute of an address; right ones are served", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("kratos");
  const body = RECORDED.kratos.replace("SUB", "jo@good.example");
  const wrong = { authorization: "Bearer wrong" };
  const statuses: number[] = [];
  for (let at = 0; at < 62; at += 1) statuses.push((await world.post(hook.id, body, wrong))[0]);
  assert.deepEqual(statuses, [...Array<number>(60).fill(401), 429, 429]);
  assert.equal((await world.post(hook.id, body, world.signed(hook, body)))[0], 204);
  world.clock.advance(60_000);
  assert.equal((await world.post(hook.id, body, wrong))[0], 401);
});

const ACCEPT_LANGUAGES: readonly [header: unknown, words: RegExp][] = [
  ["de", /^Bitte/],
  ["de-DE,de;q=0.9,en;q=0.8", /^Bitte/],
  ["tlh, de;q=0.5, fr;q=0.4", /^Bitte/],
  ["fr;q=0.2, de-AT;q=0.9", /^Bitte/],
  ["en-GB,de;q=0.9", /^Please/],
  ["de;q=0, en", /^Please/],
  [["de-CH", "en"], /^Bitte/],
  ["*", /^Please/],
  [`${"de-x,".repeat(100_000)}de`, /^Bitte/],
  [5, /^Please/],
];

for (const [header, words] of ACCEPT_LANGUAGES) {
  test(`the language is read from ${JSON.stringify(header).slice(0, 40)}`, async (t) => {
    const world = await hookWorld(t);
    const hook = await world.hook("kratos");
    for (const payload of [
      { email: "jo@bad.example", accept_language: header },
      { email: "jo@bad.example", ctx: { request_headers: { "Accept-Language": header } } },
    ]) {
      const body = JSON.stringify(payload);
      const [, text] = await world.post(hook.id, body, world.signed(hook, body));
      const { messages } = JSON.parse(text) as { messages: { messages: { text: string }[] }[] };
      assert.match(messages[0]?.messages[0]?.text ?? "", words);
    }
  });
}

/** Where each system names the visitor's address; ZITADEL does not. */
const RECORDED_ADDRESS: Readonly<Record<HookSystem, string>> = {
  supabase: '"ip_address":"127.0.0.1"',
  kratos: '"ip":"198.51.100.7"',
  zitadel: '"fullMethod"',
  fusionauth: '"ipAddress":"63.239.150.2"',
  neon: '"ip_address":"192.0.2.1"',
  standard: '{"email"',
};

for (const system of [...SYSTEMS, "standard"] as const) {
  test(`${system}: a visitor's address in the payload is counted, one of a proxy is not`, async (t) => {
    const world = await hookWorld(t, { jwks: NEON_JWKS });
    await world.logDecisions();
    const hook = await world.hook(system);
    const recorded = RECORDED_ADDRESS[system];
    const at = system === "standard" ? '{"ip":"1.2.3.4","email"' : recorded;
    const call = async (email: string, ip: string): Promise<void> => {
      assert.ok(RECORDED[system].includes(recorded));
      const named = at.replace(/[\d.]{7,}/, ip);
      const body = RECORDED[system].replace("SUB", email).replace(recorded, named);
      const headers = system === "neon" ? neonHeaders(body) : world.signed(hook, body);
      await world.post(hook.id, body, headers);
    };
    const given = ["63.239.150.2", "63.239.150.9", "2a00:1450::1", "10.0.0.7", "127.0.0.1", "x"];
    for (const [each, ip] of given.entries()) await call(`p${String(each % 3)}@good.example`, ip);
    const logged = (await world.decisions("accept")).map(({ sources }) => sources).reverse();
    const names = logged.map((sources) => sources.map(({ name }) => name).join());
    const one = system === "zitadel" ? "" : "ip,net";
    assert.deepEqual(names, [one, one, one, "", "", ""]);
    const ids = (place: number): readonly unknown[] => logged.map((each) => each[place]?.id);
    const [first, second, third] = ids(1);
    assert.equal(first, second, "of one network");
    if (system === "zitadel") return;
    assert.equal(new Set(ids(0).slice(0, 3)).size, 3);
    assert.notEqual(second, third);
  });
}

test("the decision log has the hook and the system's own id of the user", async (t) => {
  const world = await hookWorld(t);
  await world.logDecisions();
  const hook = await world.hook("supabase");
  const kratos = await world.hook("kratos");
  const call = async (to: typeof hook, body: string) => {
    await world.post(to.id, body, world.signed(to, body));
  };
  await call(hook, RECORDED.supabase.replace("SUB", "jo@gmial.com"));
  await call(kratos, RECORDED.kratos.replace("SUB", "jo@gmial.com"));
  await call(kratos, '{"email":"jo@gmial.com","subject":"jo@gmial.com"}');
  const logged = await world.decisions("challenge");
  assert.deepEqual(
    logged.map((one) => [one.hook, one.key, one.subject]),
    [
      [kratos.id, `hook:${kratos.id}`, null],
      [kratos.id, `hook:${kratos.id}`, null],
      [hook.id, `hook:${hook.id}`, "ff7fc9ae-3b1b-4642-9241-64adb9848a03"],
    ],
    "neither the id that Kratos has not made yet nor an address is kept",
  );
});

for (const [name, find] of [
  ["away", () => Promise.reject(new Error("away"))],
  ["silent", () => new Promise<never>(() => undefined)],
] as const) {
  test(`while the store is ${name}, the lists decide on a hook that was never seen, a known one decides`, async (t) => {
    const world = await hookWorld(t);
    const hook = await world.hook("supabase");
    const body = RECORDED.supabase.replace("SUB", "jo@bad.example");
    const call = () => world.post(hook.id, body, world.signed(hook, body));
    world.findHook = find;
    const unseenBySystem = SYSTEMS.map(async (system) => {
      const [unseen, unseenBody] = [await world.hook(system), RECORDED[system]];
      const ask = (email: string) => {
        const sent = unseenBody.replace("SUB", email);
        const headers = system === "neon" ? neonHeaders(sent) : world.signed(unseen, sent);
        return world.post(unseen.id, sent, headers);
      };
      assert.deepEqual(await ask("jo@bad.example"), REFUSALS[system], system);
      assert.deepEqual(await ask("jo@good.example"), [204, ""]);
    });
    await Promise.all(unseenBySystem);
    world.findHook = undefined;
    assert.deepEqual(await call(), REFUSALS.supabase);
    world.findHook = find;
    world.clock.advance(60_000);
    assert.deepEqual(await call(), REFUSALS.supabase);
  });
}
