import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask, KNOWN } from "../../../test/policy/asked-decision.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";
import { HOSTILE } from "../../../test/policy/hostile-values.ts";
import { inject } from "../../../test/http/inject.ts";

/** A server whose rate nobody spends here. */
async function server(t: TestContext) {
  const world = await gateWorld(t, KNOWN);
  const { apiKey, id } = await world.account("jo@shop.example");
  const limits = { ratePerMinute: 100_000 };
  assert.ok(await world.store.accounts.setLimits(id, limits));
  const decide = (payload: object | string) => ask(world, payload, { "x-api-key": apiKey });
  return { world, decide, accountId: id };
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "undefined").slice(0, 80);

test("there are at least 200 hostile values", () => {
  assert.ok(HOSTILE.length >= 200, String(HOSTILE.length));
});

test("whatever stands in the field of the address is decided: no listed address gets in", async (t) => {
  const { decide } = await server(t);
  for (const email of HOSTILE) {
    const { status, answer } = await decide({ email, deadline_ms: 5_000 });
    assert.deepEqual([status, answer.decision], [200, "reject"], shown(email));
    assert.ok(["format", "disposable", "no_mail_server"].includes(answer.reason), shown(email));
  }
});

test("whatever stands in a field of a page is decided by the page's key, without a result", async (t) => {
  const { world, accountId } = await server(t);
  const page = { origins: ["https://shop.example"] };
  const made = await world.store.keys.create(accountId, "page", page);
  const headers = { "x-api-key": made.apiKey, origin: "https://shop.example" };
  const values = HOSTILE.filter((value) => JSON.stringify(value ?? "").length < 100_000);
  assert.ok(values.length >= 200);
  for (const value of values) {
    const others = { language: value, facts: value, count_by: value, evt: value, known: value };
    for (const body of [{ email: value }, { email: "jo@bad.example", ...others }]) {
      const { status, answer } = await ask(world, body, headers);
      assert.equal(status, 200, shown(value));
      // Without DNS, which a page's visitors may have spent, a well-formed name that is not listed is accepted.
      const isName = typeof body.email === "string" && /^jo@(?:a\.)+example$/.test(body.email);
      if (!isName) assert.equal(answer.decision, "reject", shown(value));
      assert.ok(!("result" in answer) && !("mailbox" in answer), shown(value));
    }
  }
});

const FORMS: readonly (readonly [name: string, body: string])[] = [
  ["nothing", ""],
  ["another name", "mail=jo%40bad.example"],
  ["repeated", "email=jo%40bad.example&email=jo%40good.example"],
  ["an array", "email[]=jo%40bad.example&email[]=jo%40good.example"],
  ["both", "email=jo%40bad.example&email[]=x"],
  ["a member", "email[a]=jo%40bad.example"],
  ["broken escapes", "email=%ff%fe%40bad.example%"],
  ["no UTF-8", "email=%c3%28%40bad.example"],
];

for (const [name, body] of FORMS) {
  test(`a form that a visitor changed is rejected for its format: ${name}`, async (t) => {
    const { decide } = await server(t);
    const { status, answer } = await decide(body);
    assert.deepEqual([status, answer.decision, answer.reason], [200, "reject", "format"]);
  });
}

test("a fact that is no fact is named for the programmer, and a long one is cut", async (t) => {
  const { decide } = await server(t);
  const facts = { name: ["a"], plan: { a: 1 }, note: "x".repeat(200), age: 3 };
  const { headers } = await decide({ email: "jo@good.example", facts, deadline: 5 });
  const notice = String(headers["gatepost-notice"]);
  assert.match(notice, /Fact name is no text, number or boolean\. Fact plan is no/);
  assert.match(notice, /Unknown parameter deadline; did you mean deadline_ms\./);
});

for (const [name, headers] of [
  ["Accept-Language", { "accept-language": "x".repeat(8_000) }],
  ["Origin", { origin: "null" }],
  ["X-Forwarded-For", { "x-forwarded-for": "' or 1=1 --, ::ffff:999.1.1.1" }],
] as const) {
  test(`a header of a visitor changes no decision of a server: ${name}`, async (t) => {
    const { world } = await server(t);
    const { apiKey } = await world.account("ann@shop.example");
    const { statusCode, body } = await inject(world.app, {
      method: "POST",
      url: "/api/decide",
      payload: { email: "jo@bad.example" },
      headers: { "content-type": "application/json", "x-api-key": apiKey, ...headers },
    });
    assert.equal(statusCode, 200);
    assert.match(body, /"decision":"reject"/);
  });
}
