import { strict as assert } from "node:assert";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { InjectOptions } from "fastify";
import { appWith, recordingLog } from "../../../test/http/http-app.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { entranceOf, openAdmission } from "../../../test/http/open-admission.ts";
import { type Answered, readError, readResult } from "../../../test/http/strict-client.ts";
import { StoreDown } from "../../ports/process/store-down.ts";
import type {
  Credentials,
  Entrance,
  Admission,
  Receipt,
} from "../../service/admission/admission.ts";
import { Refusal } from "../../service/refusals.ts";
import type { AppDeps } from "../app/app.ts";
import { readTrustedProxies } from "../request/client-address.ts";
import type { Handling, Route } from "../answer/route.ts";

async function ask(over: Partial<AppDeps>, request: InjectOptions | string): Promise<Answered> {
  const app = await appWith(over);
  const { statusCode, headers, body } = await app.inject(request);
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { status: statusCode, headers: Object.fromEntries(texts) as Answered["headers"], body };
}

const CHECK = "/api/email/ada@x.example";

/** A gate that answers with the given entrance and remembers what it was asked. */
function admissionWith(entrance: Partial<Entrance>, receipt: Partial<Receipt> = {}) {
  const seen: { credentials?: Credentials; address?: string; charged: number[] } = { charged: [] };
  const admission: Admission = {
    ...openAdmission(),
    enter(credentials, address) {
      Object.assign(seen, { credentials, address });
      return { ...entranceOf("anonymous", address), ...entrance };
    },
    charge(_, units) {
      seen.charged.push(units);
      return { paidBy: "credits", units, refund: () => undefined, ...receipt };
    },
  };
  return { admission, seen };
}

const rateOf = ({ headers }: Answered) => [
  headers["x-ratelimit-limit"],
  headers["x-ratelimit-remaining"],
];

const RATE = { limit: 30, remaining: 7 };
const PLAIN_REFUSAL = new Refusal("rate", 429, "Rate limit exceeded. Try again in 17 seconds.", {
  detail: { retry_after: 17 },
  retryAfterSeconds: 17,
});

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
      "X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After",
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
  const checkOne: AppDeps["checkOne"] = () => ({ body: "{}", paidBy: "credits" });
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
    logAddresses: false,
    accessLogLinesPerSecond: 1,
  };
  const headers = { "x-forwarded-for": "192.0.2.66, 203.0.113.9" };
  await ask({ admission, settings }, { url: CHECK, headers });
  assert.equal(seen.address, "203.0.113.9");
});

const CREDITS_ONLY = { creditsOnly: PLAIN_REFUSAL } as const;

/** A route that charges nothing itself. */
const quiet = (handle: Handling["handle"]): Route => ({
  family: "quiet",
  methods: ["GET"],
  body: "params",
  parameters: new Set(),
  charges: "nothing",
  documentation: {},
  handle,
});

const served = quiet(() => ({ type: "application/json; charset=utf-8", body: '{"served":true}' }));

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
    throw new StoreDown("database", "PostgreSQL does not serve");
  });
  const refund = (): Promise<void> => {
    refunds += 1;
    return new Promise(() => undefined);
  };
  const { admission } = admissionWith(CREDITS_ONLY, { refund });
  readError(await ask({ admission, routes: [failing] }, "/api/quiet"), 503);
  assert.equal(refunds, 1);
});

const faults = [
  [
    "thrown by the check",
    {
      checkOne: () => {
        throw new Error("bug");
      },
    },
  ],
  ["rejected by the check", { checkOne: () => Promise.reject(new Error("bug")) }],
  [
    "thrown by the admission",
    {
      admission: {
        ...openAdmission(),
        enter: () => {
          throw new Error("bug");
        },
      },
    },
  ],
  [
    "rejected by the admission",
    { admission: { ...openAdmission(), enter: () => Promise.reject(new Error("bug")) } },
  ],
] as const satisfies readonly (readonly [string, Partial<AppDeps>])[];

for (const [name, over] of faults) {
  test(`a fault ${name} is a 500 without a word of it, logged once`, async () => {
    const log = recordingLog();
    const answer = await ask({ ...over, log }, CHECK);
    assert.equal(readError(answer, 500), "Internal error.");
    const errors = log.lines.filter(({ level }) => level === "error");
    assert.deepEqual(
      errors.map(({ event, fields }) => [event, fields]),
      [["http.request_failed", { method: "GET", route: "email" }]],
    );
    assert.ok(errors[0]?.fault instanceof Error);
  });
}

test("a refusal is not logged as a fault", async () => {
  const log = recordingLog();
  await ask({ log }, "/api/email");
  assert.deepEqual(
    log.lines.map(({ level }) => level),
    ["info"],
  );
});

test("what is thrown without being an error is a fault too", async () => {
  const checkOne = (): never => {
    throw "text";
  };
  readError(await ask({ checkOne }, CHECK), 500);
});

test("the access log holds the domain and never the address", async () => {
  const log = recordingLog();
  await ask({ log, clock: manualClock() }, "/api/email/Ada.Lovelace@X.example?email=other@x");
  assert.deepEqual(log.lines, [
    {
      level: "info",
      event: "http.request",
      fields: {
        method: "GET",
        route: "email",
        status: 200,
        durationMs: 0,
        tier: "anonymous",
        domain: "x.example",
      },
    },
  ]);
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

test("bulk requests go to their handler with their text and no features", async () => {
  const seen: unknown[] = [];
  const bulk: NonNullable<AppDeps["bulk"]> = (_request, input) => {
    seen.push(input);
    return { type: "application/json; charset=utf-8", body: "{}" };
  };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const form = (payload: string) =>
    ({ method: "POST", url: "/api/email", headers, payload }) as const;
  await ask({ bulk }, "/api/email/a+b@x,c@y/mass?json=1");
  await ask({ bulk }, "/api/domain/x%20y/BULK/");
  await ask({ bulk }, form("bulk=1&email=a%40x+b%40y&email=c%40z&domain=d+e"));
  await ask({ bulk }, "/api/email?bulk=true&email=a+b@x");
  readError(await ask({ bulk }, form("bulk=1&email=")), 400);
  readResult(await ask({ bulk }, "/api/email/mass"), "email");
  readResult(await ask({ bulk }, form("bulk=0&email=a")), "email");
  assert.deepEqual(seen, [
    { family: "email", text: "a+b@x,c@y", wantsResults: true },
    { family: "domain", text: "x y", wantsResults: false },
    { family: "email", text: "a@x b@y\nc@z\nd e", wantsResults: false },
    { family: "email", text: "a+b@x", wantsResults: false },
  ]);
});

test("routes get a call when the server stops", async () => {
  let stopped = 0;
  const app = await appWith({ routes: [{ ...served, stop: () => void (stopped += 1) }] });
  await app.ready();
  await app.close();
  assert.equal(stopped, 1);
});

const streaming = (body: () => Readable): Route =>
  quiet(() => ({ type: "text/plain; charset=utf-8", body: body() }));

test("a stream is sent with the headers of every answer", async () => {
  const routes = [streaming(() => Readable.from(["one\n", "two"]))];
  const answer = await ask(
    { routes, admission: admissionWith({ rate: RATE }).admission },
    "/api/quiet",
  );
  assert.deepEqual([answer.status, answer.body], [200, "one\ntwo"]);
  assert.equal(answer.headers["content-type"], "text/plain; charset=utf-8");
  assert.equal(answer.headers["access-control-allow-origin"], "*");
  assert.deepEqual(rateOf(answer), ["30", "7"]);
});

test("a stream that fails before its first byte is a 500", async () => {
  const log = recordingLog();
  const failing = (): Readable =>
    new Readable({
      read() {
        this.destroy(new Error("bug"));
      },
    });
  const answer = await ask({ log, routes: [streaming(failing)] }, "/api/quiet");
  assert.equal(readError(answer, 500), "Internal error.");
  assert.equal(log.lines.filter(({ level }) => level === "error").length, 1);
});

test("an answer that cannot be written ends its connection and not the process", async () => {
  const log = recordingLog();
  const headers = { "x-name": "line\r\nbreak" };
  const route = quiet(() => ({ type: "text/plain", body: "", headers }));
  const app = await appWith({ log, routes: [route] });
  await assert.rejects(async () => app.inject("/api/quiet"));
  assert.deepEqual(
    log.lines.map(({ event }) => event),
    ["http.answer_failed"],
  );
});

test("a store that is down is a 503 that says when to come again, and one line of log a second", async () => {
  const log = recordingLog();
  const clock = manualClock();
  let refunds = 0;
  const { admission } = admissionWith({}, { refund: () => void (refunds += 1) });
  const down = new StoreDown("database", "PostgreSQL does not serve");
  const checkOne = () => Promise.reject(new Error("read quota", { cause: down }));
  const app = await appWith({ admission, checkOne, log, clock });
  const answers: unknown[] = [];
  for (const stepMs of [0, 0, 999, 1]) {
    clock.advance(stepMs);
    const { statusCode, headers, body } = await app.inject(CHECK);
    answers.push([statusCode, headers["retry-after"], body]);
  }
  const want = [503, "5", '{"error":"Service temporarily unavailable"}'];
  assert.deepEqual(answers, [want, want, want, want]);
  const errors = log.lines.filter(({ level }) => level === "error");
  assert.deepEqual(
    errors.map(({ event, fields }) => [event, fields["leftOut"]]),
    [
      ["http.store_down", undefined],
      ["http.store_down", 2],
    ],
  );
  assert.equal(refunds, 0, "what the route charged itself it gives back itself");
});

test("a refused body costs a request for each 64 KiB of it", async (t) => {
  const spent: number[] = [];
  const admission = {
    ...openAdmission(),
    spend: (_: unknown, more: number) => void spent.push(more),
  };
  const app = await appWith({ admission });
  t.after(() => app.close());
  const post = (payload: string, type: string) =>
    app.inject({ method: "POST", url: "/api/email", payload, headers: { "content-type": type } });
  const refused = await post(`{"email": ${"1".repeat(300_000)}}`, "application/json");
  assert.equal(refused.statusCode, 400);
  assert.equal(refused.headers["x-ratelimit-remaining"], "26");
  assert.equal((await post("[]", "application/json")).statusCode, 400);
  assert.equal((await post(`email=${"a".repeat(300_000)}`, FORM)).statusCode, 200);
  assert.deepEqual(spent, [4]);
});

const FORM = "application/x-www-form-urlencoded";
