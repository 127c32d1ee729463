import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createGatepost,
  GatepostError,
  type GatepostOptions,
} from "../../clients/typescript/src/index.ts";
import { CLIENT_CASES } from "./cases.ts";
import { type Reply, serviceOf, json, gate } from "./answering-service.ts";

const ACCEPTED = {
  decision: "accept",
  reason: "ok",
  complete: true,
  policy: { name: "default", version: 1 },
};

const deadlineIn = (body: string): number =>
  (JSON.parse(body) as { readonly deadline_ms: number }).deadline_ms;

test("decide sends what it was given, the key, and less time than it has", async (t) => {
  const { url, asked } = await serviceOf(t, (response) => json(response, 200, ACCEPTED));
  const options = { policy: "strict", language: "de", form: "join", facts: { a: 1 }, token: true };
  await gate(`${url}/`, { key: "gp_live_x" }).decide("jo@good.example", options);
  const [one] = asked;
  assert.ok(one);
  assert.deepEqual([one.method, one.path, one.headers["x-api-key"]], ["POST", "/api/decide", "gp_live_x"]); // prettier-ignore
  const { deadline_ms: ms, ...rest } = JSON.parse(one.body) as Record<string, unknown>;
  assert.deepEqual(rest, { email: "jo@good.example", ...options });
  assert.ok(Number(ms) > 4_000 && Number(ms) < 5_000, String(ms));
});

test("the service's own limits bound the time it is given", async () => {
  const bodies: string[] = [];
  const answered: typeof fetch = (_, init) => {
    if (typeof init?.body === "string") bodies.push(init.body);
    return Promise.resolve(Response.json(ACCEPTED));
  };
  const client = gate("https://gatepost.example", { fetch: answered, deadlineMs: 60_000 });
  await client.decide("jo@good.example");
  await client.decide("jo@good.example", { deadlineMs: 70 });
  assert.deepEqual(bodies.map(deadlineIn), [5_000, 50]);
});

/** What the table says of statuses that let nobody in. */
const sources = new Map(
  CLIENT_CASES.statuses.flatMap(({ status, decision }) =>
    decision === "reject" ? status.map((each) => [each, "client"] as const) : [],
  ),
);

const REPEATED: readonly (readonly [status: number, times: number])[] = [
  [400, 1],
  [401, 1],
  [404, 1],
  [409, 1],
  [429, 1],
  [500, 1],
  [501, 1],
  [502, 2],
  [503, 2],
  [504, 2],
  [505, 1],
];

test("a decision is asked for once more after a passing fault, and never a third time", async (t) => {
  for (const [status, times] of REPEATED) {
    const reply: Reply = (response) => json(response, status, { error: "No." });
    const { url, asked } = await serviceOf(t, reply);
    const { source, fault } = await gate(url).decide("jo@good.example");
    assert.deepEqual(
      [source, fault?.status, fault?.message],
      [sources.get(status) ?? "away", status, "No."],
    );
    assert.equal(asked.length, times, String(status));
  }
  const { url, asked } = await serviceOf(t, (response) => response.destroy());
  const { fault } = await gate(url).decide("jo@good.example");
  assert.deepEqual([fault?.kind, asked.length], ["network", 2]);
});

test("a deadline without an end is one", async (t) => {
  const { url } = await serviceOf(t, (response) => json(response, 200, ACCEPTED));
  const { source } = await gate(url, { deadlineMs: Infinity }).decide("jo@good.example");
  assert.equal(source, "service");
});

test("nothing is repeated past the deadline", async (t) => {
  const { url, asked } = await serviceOf(t, (response) => {
    setTimeout(() => response.destroy(), 390);
  });
  const { fault } = await gate(url).decide("jo@good.example", { deadlineMs: 400 });
  assert.ok(["network", "timeout"].includes(fault?.kind ?? ""));
  assert.equal(asked.length, 1);
});

test("the caller's signal ends a call with its reason, before and during it", async (t) => {
  const { url } = await serviceOf(t, () => undefined);
  const reason = new Error("the visitor left");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(gate(url).decide("jo@good.example", { signal }), reason);
  const ending = new AbortController();
  const asking = gate(url).check("jo@good.example", { signal: ending.signal });
  ending.abort(reason);
  await assert.rejects(asking, reason);
});

test("a listener that throws, and a form that is no JSON, lose no sign-up", async (t) => {
  const { url } = await serviceOf(t, (response) => json(response, 500, {}));
  const onFault = (): never => {
    throw new Error("the log is full");
  };
  assert.equal((await gate(url, { onFault }).decide("jo@good.example")).source, "away");
  const form = 7n as unknown as string;
  const { source, fault } = await gate(url).decide("jo@good.example", { form });
  assert.deepEqual([source, fault?.kind], ["away", "request"]);
  const nothing = undefined as unknown as string;
  assert.equal((await gate(url).decide(nothing)).reason, "format");
});

test("options that cannot work are refused at the start", () => {
  const bad: readonly (readonly [GatepostOptions, RegExp])[] = [
    [{ url: "gatepost.example" }, /^url: "gatepost.example" is not a base URL such as "http:/],
    [{ url: "127.0.0.1:8080" }, /^url: "127.0.0.1:8080" is not a base URL such as "http:/],
    [{ url: "ftp://gatepost.example" }, /url: "ftp/],
    [{ url: "http://x.example", tokenSecret: "" }, /tokenSecret/],
    [{ url: "http://x.example", tokenSecret: [`gp_sign_${"A".repeat(43)}`, "x"] }, /tokenSecret/],
    [{ url: "http://x.example", deadlineMs: 0 }, /deadlineMs: 0 is not above 0/],
    [{ url: "http://x.example", deadlineMs: Number.NaN }, /deadlineMs/],
    [{ url: "http://x.example", away: "block" as "reject" }, /away: "block" is not one of accept/],
  ];
  for (const [options, text] of bad) {
    assert.throws(() => createGatepost(options), (error) => error instanceof TypeError && text.test(error.message)); // prettier-ignore
  }
});

test("a check gives the result, or an error that says why", async (t) => {
  const result = { format: true, domain: "x.example", disposable: false, dns: true, confidence: 0, whitelist: false, signals: [], role: false, free: false }; // prettier-ignore
  const { url, asked } = await serviceOf(
    t,
    (response, { body }) =>
    body.includes("late") ? json(response, 429, { error: "Slow down." }, { "retry-after": "7" }) : json(response, 200, result), // prettier-ignore
  );
  assert.deepEqual(await gate(url).check("jo@x.example", { features: ["spf", "dkim"] }), result);
  assert.deepEqual(await gate(url).check("x.example"), result);
  assert.deepEqual(
    asked.map(({ path, body }) => [path, JSON.parse(body)]),
    [
      ["/api/email", { email: "jo@x.example", features: "spf,dkim" }],
      ["/api/domain", { domain: "x.example" }],
    ],
  );
  await assert.rejects(gate(url).check("jo@late.example"), (error) => {
    assert.ok(error instanceof GatepostError);
    const { kind, status, retryAfter, message } = error;
    assert.deepEqual([kind, status, retryAfter, message], ["status", 429, 7, "Slow down."]);
    return true;
  });
});
