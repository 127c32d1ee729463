import assert from "node:assert/strict";
import { test } from "node:test";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import { HOSTILE } from "../../../test/policy/hostile-values.ts";

/** An account by telephone has no address at all. */
const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

test("whatever a visitor puts where the address stands, a hook lets no such account through", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("kratos");
  for (const email of HOSTILE) {
    const payload = JSON.stringify({ email, flow_id: "1", language: "de" });
    const [status] = await world.post(hook.id, payload, world.signed(hook, payload));
    assert.equal(status, isBlank(email) ? 204 : 400, (JSON.stringify(email) ?? "").slice(0, 80));
  }
});

test("no language, provider or id of a visitor's changes what is decided", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("kratos");
  const values = HOSTILE.filter((value) => JSON.stringify(value ?? "").length < 20_000);
  for (const value of values) {
    for (const [email, want] of [
      ["jo@bad.example", 400],
      ["jo@good.example", 204],
    ] as const) {
      const payload = JSON.stringify({ email, language: value, subject: value, ip: value });
      const [status] = await world.post(hook.id, payload, world.signed(hook, payload));
      assert.equal(status, want, (JSON.stringify(value) ?? "").slice(0, 80));
    }
  }
});
