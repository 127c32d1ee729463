import { strict as assert } from "node:assert";
import { Readable } from "node:stream";
import { test } from "node:test";
import { appWith, recordingLog } from "../../test/http/http-app.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { openAdmission } from "../../test/http/open-admission.ts";
import { readError } from "../../test/http/strict-client.ts";
import { StoreDown } from "../base/store-down.ts";
import type { AppDeps } from "./app.ts";
import type { Route } from "./route.ts";
import { quiet, ask, CHECK, admissionWith, rateOf, RATE } from "../../test/http/guarded.ts";
import { inject } from "../../test/http/inject.ts";

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
  const app = appWith({ log, routes: [route] });
  await assert.rejects(async () => inject(app, "/api/quiet"));
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
  const down = new StoreDown("PostgreSQL does not serve");
  const checkOne = () => Promise.reject(new Error("read quota", { cause: down }));
  const app = appWith({ admission, checkOne, log, clock });
  const answers: unknown[] = [];
  for (const stepMs of [0, 0, 999, 1]) {
    clock.advance(stepMs);
    const { statusCode, headers, body } = await inject(app, CHECK);
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
