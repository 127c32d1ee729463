import { strict as assert } from "node:assert";
import { test } from "node:test";
import { appWith, echoingCheck } from "../../test/http/http-app.ts";
import { openAdmission } from "../../test/http/open-admission.ts";
import { readError } from "../../test/http/strict-client.ts";
import { StoreDown } from "../base/store-down.ts";
import { Refusal } from "../base/refusals.ts";
import type { AppDeps } from "./app.ts";
import { readTrustedProxies } from "./client-address.ts";
import {
  ask,
  quiet,
  CHECK,
  admissionWith,
  rateOf,
  RATE,
  PLAIN_REFUSAL,
} from "../../test/http/guarded.ts";
import { inject } from "../../test/http/inject.ts";

const rated = [
  ["a result", CHECK, 200],
  ["a missing parameter", "/api/email", 400],
  ["an unknown path", "/api/nothing", 404],
] as const;

for (const [name, url, status] of rated) {
  test(`${name} carries the rate headers`, async () => {
    const answer = await ask({ admission: admissionWith({ rate: RATE }).admission }, url);
    assert.equal(answer.status, status);
    assert.deepEqual(rateOf(answer), ["30", "7"]);
    assert.equal(
      answer.headers["access-control-expose-headers"],
      "X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, Gatepost-Error, Gatepost-Notice",
    );
  });
}

test("an owner without a limit gets no rate headers", async () => {
  assert.deepEqual(rateOf(await ask({ admission: admissionWith({}).admission }, CHECK)), [
    undefined,
    undefined,
  ]);
});

test("a result that credits paid for carries no rate headers", async () => {
  const checkOne: AppDeps["checkOne"] = async (...asked) => ({
    ...(await echoingCheck(...asked)),
    paidBy: "credits",
  });
  const answer = await ask({ admission: admissionWith({ rate: RATE }).admission, checkOne }, CHECK);
  assert.deepEqual(rateOf(answer), [undefined, undefined]);
});

test("a refusal of the admission is answered with its detail and the rate headers", async () => {
  const { admission } = admissionWith({
    rate: { limit: 30, remaining: 0 },
    refusal: PLAIN_REFUSAL,
  });
  const answer = await ask({ admission }, CHECK);
  readError(answer, 429);
  assert.deepEqual(JSON.parse(answer.body), {
    error: "Rate limit exceeded. Try again in 17 seconds.",
    retry_after: 17,
  });
  assert.equal(answer.headers["retry-after"], "17");
  assert.deepEqual(rateOf(answer), ["30", "0"]);
});

test("the admission is asked before the body is read", async () => {
  const { admission } = admissionWith({ refusal: PLAIN_REFUSAL });
  const request = {
    method: "POST",
    url: "/api/email",
    headers: { "content-type": "text/plain" },
    payload: "x",
  } as const;
  readError(await ask({ admission }, request), 429);
});

test("a preflight is not counted", async () => {
  const { admission, seen } = admissionWith({ refusal: PLAIN_REFUSAL });
  assert.equal((await ask({ admission }, { method: "OPTIONS", url: CHECK })).status, 204);
  assert.equal(seen.address, undefined);
});

const NO_CREDENTIALS = { apiKey: [], authorization: [] };
const headerCases = [
  ["no key", {}, NO_CREDENTIALS],
  ["a key", { "X-Api-Key": "k" }, { apiKey: ["k"], authorization: [] }],
  ["an empty key", { "x-api-key": "" }, { apiKey: [""], authorization: [] }],
  ["a bearer", { Authorization: "Bearer k" }, { apiKey: [], authorization: ["Bearer k"] }],
  ["both", { "x-api-key": "a", authorization: "b" }, { apiKey: ["a"], authorization: ["b"] }],
] as const;

for (const [name, headers, want] of headerCases) {
  test(`the admission sees ${name} as it was sent`, async () => {
    const { admission, seen } = admissionWith({});
    await ask({ admission }, { url: CHECK, headers });
    assert.deepEqual(seen.credentials, want);
  });
}

test("the admission counts the forwarded address of a trusted proxy", async () => {
  const { admission, seen } = admissionWith({});
  const settings = {
    publicUrl: () => "http://gatepost.example",
    trustedProxies: readTrustedProxies("127.0.0.1"),
    accessLogLinesPerSecond: 1,
  };
  const headers = { "x-forwarded-for": "192.0.2.66, 203.0.113.9" };
  await ask({ admission, settings }, { url: CHECK, headers });
  assert.equal(seen.address, "203.0.113.9");
});

const CREDITS_ONLY = { creditsOnly: PLAIN_REFUSAL } as const;

const served = quiet(() => ({ type: "application/json", body: '{"served":true}' }));

test("with the rate spent, a route that charges nothing costs one credit", async () => {
  const { admission, seen } = admissionWith(CREDITS_ONLY);
  const answer = await ask({ admission, routes: [served] }, "/api/quiet");
  assert.equal(answer.status, 200);
  assert.deepEqual(seen.charged, [0]);
  assert.deepEqual(rateOf(answer), [undefined, undefined]);
});

test("with rate to spare, a route that charges nothing costs nothing", async () => {
  const { admission, seen } = admissionWith({ rate: RATE });
  assert.deepEqual(rateOf(await ask({ admission, routes: [served] }, "/api/quiet")), ["30", "7"]);
  assert.deepEqual(seen.charged, []);
});

test("with the rate spent, an unpaid mistake is a rate refusal", async () => {
  const { admission } = admissionWith(CREDITS_ONLY);
  readError(await ask({ admission }, "/api/email"), 429);
  readError(await ask({ admission }, "/api/nothing"), 429);
});

test("a refusal that a credit paid for stays what it is", async () => {
  const refusing = quiet(() => {
    throw new Refusal("gone", 404, "Session not found or expired.");
  });
  readError(
    await ask(
      { admission: admissionWith(CREDITS_ONLY).admission, routes: [refusing] },
      "/api/quiet",
    ),
    404,
  );
});

test("a fault gives the guard's own charge back", async () => {
  let refunds = 0;
  const failing = quiet(() => {
    throw new Error("bug");
  });
  const { admission } = admissionWith(CREDITS_ONLY, { refund: () => void (refunds += 1) });
  readError(await ask({ admission, routes: [failing] }, "/api/quiet"), 500);
  assert.equal(refunds, 1);
});

test("a store that is down is answered at once, without waiting for the refund", async () => {
  let refunds = 0;
  const failing = quiet(() => {
    throw new StoreDown("PostgreSQL does not serve");
  });
  const refund = (): Promise<void> => {
    refunds += 1;
    return new Promise(() => undefined);
  };
  const { admission } = admissionWith(CREDITS_ONLY, { refund });
  readError(await ask({ admission, routes: [failing] }, "/api/quiet"), 503);
  assert.equal(refunds, 1);
});

test("every answer is counted under our own names", async () => {
  const seen: unknown[] = [];
  const metrics = {
    observe: (...args: readonly unknown[]) => void seen.push(args.slice(0, 3)),
    refused: (code: string) => void seen.push(code),
  };
  await ask({ metrics }, CHECK);
  await ask({ metrics }, "/api/domain");
  await ask({ metrics }, "/api/whatever/they/like");
  await ask({ metrics }, { method: "DELETE", url: CHECK });
  await ask({ metrics }, "/healthz");
  assert.deepEqual(seen, [
    ["email", "GET", 200],
    "missing_parameter",
    ["domain", "GET", 400],
    "not_found",
    ["none", "other", 404],
    "method_not_allowed",
    ["email", "other", 405],
    ["/healthz", "GET", 200],
  ]);
});

test("a refused body costs a request for each 64 KiB of it", async () => {
  const spent: number[] = [];
  const admission = {
    ...openAdmission(),
    spend: (_: unknown, more: number) => void spent.push(more),
  };
  const app = appWith({ admission });
  const post = (payload: string, type: string) =>
    inject(app, { method: "POST", url: "/api/email", payload, headers: { "content-type": type } });
  const refused = await post(`{"email": ${"1".repeat(300_000)}}`, "application/json");
  assert.equal(refused.statusCode, 400);
  assert.equal(refused.headers["x-ratelimit-remaining"], "26");
  assert.equal((await post("[]", "application/json")).statusCode, 400);
  assert.equal((await post(`email=${"a".repeat(300_000)}`, FORM)).statusCode, 200);
  assert.deepEqual(spent, [4]);
});

const FORM = "application/x-www-form-urlencoded";
