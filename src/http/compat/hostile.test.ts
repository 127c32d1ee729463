import assert from "node:assert/strict";
import { test } from "node:test";
import { compatWorld } from "../../../test/compat/compat-world.ts";
import { HOSTILE } from "../../../test/policy/hostile-values.ts";
import { SHAPES } from "./services.ts";

const json = (url: string, body: object) => ({
  url,
  method: "POST" as const,
  headers: { "content-type": "application/json" },
  payload: JSON.stringify(body),
});
const get = (url: string) => ({ url, headers: {} });

/** How each service is asked about one address, and what its callers keep out. */
const DOORS: Readonly<
  Record<string, { ask: (text: string) => ReturnType<typeof get>; keptOut: RegExp }>
> = {
  "kickbox-open": { ask: (v) => get(`v1/disposable/${v}`), keptOut: /"disposable":true/ },
  usercheck: {
    ask: (v) => get(`email/${v}`),
    keptOut: /"status":400|"disposable":true|"mx":false/,
  },
  "mailcheck-ai": {
    ask: (v) => get(`email/${v}`),
    keptOut: /"status":400|"disposable":true|"mx":false/,
  },
  "debounce-free": { ask: (v) => get(`?email=${v}`), keptOut: /"disposable":"true"/ },
  truemail: {
    ask: (v) => ({ ...get(`?email=${v}`), method: "POST" as const }),
    keptOut: /"success":false/,
  },
  kickbox: {
    ask: (v) => get(`v2/verify?email=${v}`),
    keptOut: /"result":"undeliverable"|"disposable":true/,
  },
  zerobounce: {
    ask: (v) => get(`v2/validate?email=${v}`),
    keptOut: /"status":"(?:invalid|do_not_mail)"/,
  },
  neverbounce: {
    ask: (v) => json("v4.2/single/check", { email: decodeURIComponent(v) }),
    keptOut: /"result":"(?:invalid|disposable)"/,
  },
  reacher: {
    ask: (v) => json("v0/check_email", { to_email: decodeURIComponent(v) }),
    keptOut: /"is_reachable":"invalid"|"is_disposable":true/,
  },
  verifalia: {
    ask: (v) =>
      json("v2.7/email-validations?waitTime=30000", {
        entries: [{ inputData: decodeURIComponent(v) }],
      }),
    keptOut: /"classification":"Undeliverable"|"isDisposableEmailAddress":true/,
  },
};

/** A long name that is no list's: services that know lists alone let it in. */
const WELL_FORMED = /^jo@(?:a\.)+example$/;

/** Texts that a request of any shape can carry. Nothing at all is a parameter that the application left out. */
const TEXTS = HOSTILE.map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
  .filter((text): text is string => text !== undefined && text.trim() !== "")
  .filter((text) => !WELL_FORMED.test(text))
  .map((text) => encodeURIComponent(Buffer.from(text).toString()))
  .filter((text) => text.length < 8_000);

test("there are at least 200 texts, and a door of each service", () => {
  assert.ok(TEXTS.length >= 200, String(TEXTS.length));
  assert.deepEqual(Object.keys(DOORS).sort(), SHAPES.map(({ service }) => service).sort());
});

for (const [service, { ask, keptOut }] of Object.entries(DOORS)) {
  test(`${service}: whatever stands for an address, no caller lets it in`, async (t) => {
    const world = await compatWorld(t);
    const { apiKey, id } = await world.account("jo@shop.example", "pro");
    await world.store.accounts.setLimits(id, { ratePerMinute: 100_000 });
    const said = async (text: string) => {
      const asked = ask(text);
      const headers = { ...asked.headers, "x-api-key": apiKey };
      return await world.ask({ ...asked, url: `/compat/${service}/${asked.url}`, headers });
    };
    const good = await said("jo%40good.example");
    assert.equal(good.status, 200);
    assert.doesNotMatch(JSON.stringify(good.body), keptOut, "an honest address");
    assert.match(JSON.stringify((await said("jo%40bad.example")).body), keptOut);
    for (const text of TEXTS) {
      const { status, body } = await said(text);
      assert.ok(status === 200 || status === 400, `${String(status)} ${text.slice(0, 60)}`);
      assert.match(JSON.stringify(body), keptOut, text.slice(0, 60));
    }
  });
}
