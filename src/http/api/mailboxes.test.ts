import assert from "node:assert/strict";
import { test } from "node:test";
import { inject } from "../../../test/http/inject.ts";
import { MAILBOX_RULES } from "../../core/evidence/alias.ts";
import { ask } from "../../../test/policy/asked-decision.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";

const ID = /^m_[A-Z2-7]{26}$/;

test("ids are those of decisions, in order, and nothing is counted", async (t) => {
  const world = await gateWorld(t, { zone: {} });
  const { apiKey } = await world.account("jo@shop.example");
  const call = async (payload: object, key: string | null = apiKey) => {
    const headers = key === null ? {} : { "x-api-key": key };
    const reply = await inject(world.app, {
      method: "POST",
      url: "/api/mailboxes",
      headers,
      payload,
    });
    return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
  };
  const emails = ["jo@gmail.com", "J.O+x@googlemail.com", "nobody", "", "jo@icloud.com"];
  const { status, body } = await call({ emails });
  assert.deepEqual([status, body["rules"]], [200, MAILBOX_RULES]);
  const rows = body["mailboxes"] as { email: string; id: string | null; former: string[] }[];
  assert.deepEqual(
    rows.map(({ email }) => email),
    emails,
  );
  const [first, second, ...rest] = rows;
  assert.match(first?.id ?? "", ID);
  assert.equal(second?.id, first?.id);
  assert.deepEqual(
    rest.map(({ id, former }) => [id === null, former.length]),
    [
      [true, 0],
      [true, 0],
      [false, 0],
    ],
  );
  for (let more = 0; more < 8; more += 1) await call({ emails: [`jo+${String(more)}@gmail.com`] });
  const { answer } = await ask(world, { email: "jo@gmail.com" }, { "x-api-key": apiKey });
  assert.deepEqual(answer.mailbox, { id: first?.id, rules: MAILBOX_RULES, seen: 1 });
  const page = await world.account("an@shop.example");
  const other = (await call({ emails }, page.apiKey)).body["mailboxes"] as typeof rows;
  assert.notEqual(other[0]?.id, first?.id);

  for (const [name, payload, key, want] of [
    ["no key", { emails }, null, 401],
    ["nothing", {}, apiKey, 400],
    ["numbers", { emails: [5] }, apiKey, 400],
    [
      "1,001 addresses",
      { emails: Array.from({ length: 1_001 }, () => "a@b.example") },
      apiKey,
      400,
    ],
    [
      "1,000 addresses",
      { emails: Array.from({ length: 1_000 }, () => "a@b.example") },
      apiKey,
      200,
    ],
  ] as const)
    assert.equal((await call(payload, key)).status, want, name);
});
