import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask } from "../../../test/policy/asked-decision.ts";
import { type GateOptions, gateWorld } from "../../../test/policy/gate-world.ts";
import {
  ADDRESS,
  issuerWorld,
  NONCE,
  ORIGIN,
  piecesFor,
  tokenOf,
} from "../../../test/proof/issuer.ts";
import { givenTime } from "../../../test/time/given-time.ts";

const ZONE = {
  "mail.example": { mx: ["10 mx.mail.example"] },
  "mx.mail.example": { a: ["198.51.100.1"] },
};
const GOOD = piecesFor();
const PROOF = { evt: tokenOf(GOOD), nonce: NONCE, origin: ORIGIN };
const PRIVATE = tokenOf({ ...GOOD, claims: { ...Object(GOOD.claims), is_private_email: true } });

async function openWorld(t: TestContext, options: GateOptions = {}) {
  const world = await gateWorld(t, { zone: ZONE, prove: issuerWorld().prove, ...options });
  const account = await world.account("jo@shop.example");
  const decide = async (more: object, headers = { "x-api-key": account.apiKey }) => {
    const { status, answer } = await ask(world, { email: ADDRESS, ...more }, headers);
    return { status, answer: { ...answer } as Record<string, unknown> };
  };
  return { world, account, decide };
}

test("a proof is told after complete, and in the token", async (t) => {
  const { decide } = await openWorld(t);
  const { answer } = await decide({ ...PROOF, token: true });
  assert.deepEqual(Object.keys(answer).slice(0, 5), [
    "decision",
    "reason",
    "complete",
    "verified",
    "policy",
  ]);
  assert.deepEqual([answer["decision"], answer["verified"]], ["accept", "yes"]);
  const [, claims = ""] = String(answer["token"]).split(".");
  const { ver } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { ver?: string };
  assert.equal(ver, "yes");
  const hidden = await decide({ ...PROOF, evt: PRIVATE });
  assert.deepEqual([hidden.answer["verified"], hidden.answer["private_address"]], ["yes", true]);
  const wrong = await decide({ ...PROOF, nonce: "another" });
  assert.deepEqual([wrong.answer["decision"], wrong.answer["verified"]], ["accept", "no"]);
  const without = await decide({ token: true });
  assert.ok(!("verified" in without.answer) && !("private_address" in without.answer));
});

test("a policy may ask for a proof; no built-in rule does", async (t) => {
  const { world, account, decide } = await openWorld(t);
  const owner = (await world.store.accounts.find(account.id)) ?? assert.fail();
  const rules = [
    { when: { verified: "no" }, then: "review", reason: "unproven" },
    { when: { verified: "yes" }, then: "accept", reason: "proven" },
  ];
  await world.policies.save({ account: owner, author: "jo" }, "default", { rules }, "live");
  const reasonOf = async (more: object) => (await decide(more)).answer["reason"];
  assert.equal(await reasonOf(PROOF), "proven");
  assert.equal(await reasonOf({ ...PROOF, origin: "https://evil.example" }), "unproven");
  assert.equal(await reasonOf({}), "ok");
});

test("what can be no proof is none, and the decision is made as ever", async (t) => {
  const { decide } = await openWorld(t);
  const { evt, nonce, origin } = PROOF;
  const cases = [
    { evt, origin },
    { evt, nonce },
    { evt, nonce: "", origin },
    { ...PROOF, evt: "x".repeat(9_000) },
    { ...PROOF, nonce: "x".repeat(513) },
    { ...PROOF, nonce: ["a", "b"] },
    ...[5, true, [evt], [evt, evt], { evt }, [], {}].map((other) => ({ ...PROOF, evt: other })),
  ];
  for (const more of cases) {
    const { status, answer } = await decide(more);
    const { decision, verified } = answer as { decision: string; verified: string };
    assert.deepEqual([status, decision, verified], [200, "accept", "no"], JSON.stringify(more));
  }
  const empty = await decide({ ...PROOF, evt: "" });
  assert.ok(empty.status === 200 && !("verified" in empty.answer), "a browser without the feature");
});

test("a proof from a page or from nobody is not looked at", async (t) => {
  const { world, account, decide } = await openWorld(t);
  const page = { origins: [ORIGIN], terms: { policy: "default", daily: 10 } };
  const made = await world.store.keys.create(account.id, "page", page);
  for (const headers of [{}, { "x-api-key": made.apiKey, origin: ORIGIN }]) {
    const { status, answer } = await decide(PROOF, headers as { "x-api-key": string });
    assert.ok(status === 200 && !("verified" in answer));
  }
});

const FAULTS: readonly (readonly [name: string, prove: GateOptions["prove"] & object])[] = [
  ["a server that never answers", () => new Promise(() => undefined)],
  ["a fault of ours", () => Promise.reject(new Error("a fault"))],
];

for (const [name, prove] of FAULTS) {
  test(`${name} leaves a proof unknown, by the deadline`, async (t) => {
    const given = givenTime();
    t.after(() => given.stop());
    const { decide } = await openWorld(t, { prove });
    const startedMs = given.nowMs();
    const { answer } = await decide({ ...PROOF, deadline_ms: 200, token: true });
    assert.deepEqual([answer["decision"], answer["verified"]], ["accept", "unknown"]);
    assert.ok(given.nowMs() - startedMs <= 250);
  });
}
