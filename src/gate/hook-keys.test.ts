import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpQuestion, HttpReply, OutboundResult } from "../outbound/outbound-types.ts";
import { createHookKeys } from "./hook-signatures.ts";
import { createFetchJson } from "./published-json.ts";

const URL_OF_KEYS = "https://keys.example.com/jwks";
const reply = (body: unknown, status = 200, cut = false): OutboundResult<HttpReply> => ({
  ok: true,
  value: { status, headers: {}, body: Buffer.from(JSON.stringify(body)), cut },
});
const SET = reply({ keys: [{ kid: "k1" }] });

function world(...answers: OutboundResult<HttpReply>[]) {
  const asked: HttpQuestion[] = [];
  let nowMs = 0;
  const http = async (question: HttpQuestion) => {
    asked.push(question);
    await new Promise(setImmediate);
    return answers[Math.min(asked.length, answers.length) - 1] ?? SET;
  };
  const clock = { monotonicMs: () => nowMs };
  const keysAt = createHookKeys(createFetchJson({ http }, clock), clock);
  return {
    asked,
    wait: (ms: number) => (nowMs += ms),
    kids: async (kid: string | undefined = "k1", url = URL_OF_KEYS, by = "a1") =>
      keysAt(
        url,
        by,
      )(kid).then(
        (keys) => keys.map((key) => key.kid),
        () => "none",
      ),
  };
}

test("fifty calls at once fetch the keys once, and without redirects", async () => {
  const { asked, kids } = world(SET);
  const answers = await Promise.all(Array.from({ length: 50 }, () => kids()));
  assert.ok(answers.every((answer) => answer.toString() === "k1"));
  assert.deepEqual([asked.length, asked[0]?.maxRedirects], [1, 0]);
});

const FAILURES: readonly [name: string, answer: OutboundResult<HttpReply>][] = [
  ["no connection", { ok: false, fault: "not_public", detail: "127.0.0.1" }],
  ["a 404", reply({ keys: [] }, 404)],
  ["a redirect", reply({}, 302)],
  ["no JWKS", reply({ keys: "none" })],
  ["no object", reply(null)],
  ["an answer that is too long", reply({ keys: [{ kid: "k1" }] }, 200, true)],
];

for (const [name, answer] of FAILURES) {
  test(`${name} is remembered for a minute`, async () => {
    const { asked, wait, kids } = world(answer, SET);
    for (let call = 0; call < 5; call += 1) assert.equal(await kids(), "none");
    wait(59_999);
    assert.equal(await kids(), "none");
    assert.equal(asked.length, 1);
    wait(1);
    assert.deepEqual(await kids(), ["k1"]);
    assert.equal(asked.length, 2);
  });
}

test("a new key is fetched at most once a minute, known keys are believed for 5 minutes", async () => {
  const { asked, wait, kids } = world(
    SET,
    reply({ keys: [{ kid: "k2" }, 5, null] }),
    reply({}, 500),
  );
  await kids();
  for (let call = 0; call < 5; call += 1) assert.deepEqual(await kids("k2"), ["k1"]);
  assert.equal(asked.length, 1);
  wait(60_000);
  assert.deepEqual(await kids("k1"), ["k1"]);
  assert.deepEqual(await kids("k2"), ["k2"]);
  wait(299_999);
  assert.deepEqual(await kids("k2"), ["k2"]);
  assert.equal(asked.length, 2);
  wait(1);
  assert.deepEqual(await kids("k2"), ["k2"], "the last keys stay while the server fails");
  assert.equal(asked.length, 3);
});

test("nothing but https is asked", async () => {
  const { asked, kids } = world(SET);
  assert.equal(await kids("k1", "http://keys.example.com/jwks"), "none");
  assert.deepEqual(asked, []);
});

test("a hook whose keys cannot be fetched leaves another account's at the same host alone", async () => {
  const { asked, kids } = world({ ok: false, fault: "timeout" }, SET);
  assert.equal(await kids(), "none");
  assert.deepEqual(await kids("k1", URL_OF_KEYS, "a2"), ["k1"]);
  assert.equal(asked.length, 2);
});
