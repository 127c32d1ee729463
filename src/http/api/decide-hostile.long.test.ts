import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask, KNOWN } from "../../../test/policy/asked-decision.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";
import { HOSTILE } from "../../../test/policy/hostile-values.ts";

/** A server whose rate nobody spends here. */
async function server(t: TestContext) {
  const world = await gateWorld(t, KNOWN);
  const { apiKey, id } = await world.account("jo@shop.example");
  const limits = { ratePerMinute: 100_000 };
  assert.ok(await world.store.accounts.setLimits(id, limits));
  const decide = (payload: object | string) => ask(world, payload, { "x-api-key": apiKey });
  return { world, decide };
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "undefined").slice(0, 80);

test("no other field that a visitor fills loses an honest person or lets a listed address in", async (t) => {
  const { decide } = await server(t);
  const fields = (value: unknown): readonly object[] => [
    { language: value },
    { facts: { name: value } },
    { evt: value, nonce: "n", origin: "https://shop.example" },
    { evt: "x", nonce: value, origin: "https://shop.example" },
    { confirmed: value },
    { known: value },
  ];
  const values = HOSTILE.filter((value) => JSON.stringify(value ?? "").length < 50_000);
  assert.ok(values.length >= 200);
  for (const value of values) {
    for (const more of fields(value)) {
      for (const [email, want] of [
        ["jo@good.example", "accept"],
        ["jo@bad.example", "reject"],
      ] as const) {
        const { status, answer } = await decide({ email, ...more, deadline_ms: 5_000 });
        const said = [status, answer.decision];
        // JSON that keeps its reader busy holds no address.
        const isRead = answer.reason !== "format";
        assert.deepEqual(said, [200, isRead ? want : "reject"], shown(more));
      }
    }
  }
});

test("a body of more values than are ever read is decided", async (t) => {
  const { decide } = await server(t);
  for (const item of [1, ""]) {
    const many = Array.from({ length: 300_000 }, () => item);
    for (const body of [{ email: many }, { email: "jo@good.example", evt: many }]) {
      const { status, answer } = await decide(body);
      assert.deepEqual(
        [status, answer.decision, answer.reason],
        [200, "reject", "format"],
        shown(item),
      );
    }
  }
});
