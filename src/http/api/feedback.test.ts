import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { appWith } from "../../../test/http/http-app.ts";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { listsWorld } from "../../../test/lists/lists-world.ts";
import { callerAt, openAdmission } from "../../../test/http/open-admission.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import type { Admission } from "../../service/admission/admission.ts";
import { createExplain } from "../../service/check/explain.ts";
import { createSingleCheck } from "../../service/check/single-check.ts";
import { explainRoute } from "./explain.ts";
import { reportRoute } from "./report.ts";

/** Lets everybody in as account "a1", or without a key. */
function admissionFor(key: "key" | "no key") {
  const open = openAdmission("free");
  const caller =
    key === "no key"
      ? callerAt("192.0.2.1")
      : {
          ...callerAt("192.0.2.1", "free"),
          owner: { kind: "account", accountId: "a1" } as const,
          keyId: "k1",
        };
  const admission: Admission = { ...open, enter: () => ({ caller, hasCredits: false }) };
  return { admission, charged: open.charged };
}

async function openApp(t: TestContext, key: "key" | "no key" = "key") {
  const datasets = literalDatasets({ curated: ["bad.example"], domains: { "no.example": "deny" } });
  const world = await listsWorld(t, { datasets });
  const { admission, charged } = admissionFor(key);
  const { clock, reports } = world;
  const check = createSingleCheck({
    lookup: zoneLookup({}),
    datasets: () => datasets,
    clock,
    implicitMx: false,
  });
  const explain = createExplain({ admission, check, datasets: () => datasets });
  const routes = [explainRoute({ explain }), reportRoute({ reports, clock })];
  const app = await appWith({ admission, routes });
  t.after(() => app.close());
  return { ...world, app, charged };
}

test("an explanation holds the result and each signal, for one unit", async (t) => {
  const { app, charged } = await openApp(t);
  const answer = await app.inject("/api/explain/ada%40bad.example");
  assert.equal(answer.statusCode, 200);
  const body: Record<string, unknown> = answer.json();
  assert.deepEqual(Object.keys(body), ["result", "explanation", "data_version"]);
  assert.deepEqual((body["explanation"] as unknown[])[0], {
    signal: "blacklist_exact",
    weight: 1,
    means: "The exact domain is on a curated disposable list or on the operator's deny list.",
    matched: "bad.example",
    by: "lists",
    lists: [{ id: "curated", curated: true, since: null, fetched_at: null }],
  });
  assert.equal(charged(), 1);
});

test("of the operator an explanation tells no more than that he spoke", async (t) => {
  const { app, operator } = await openApp(t);
  await operator.save("no.example", "deny", { note: "secret reason", author: "ada" });
  const { body } = await app.inject("/api/explain/no.example");
  assert.match(body, /"by":"operator"/);
  assert.doesNotMatch(body, /secret|ada/);
});

test("the explanation of a malformed entry says what was meant", async (t) => {
  const { app } = await openApp(t);
  const body: Record<string, unknown> = (await app.inject("/api/explain/jo@gmail..com")).json();
  const { code, did_you_mean: meant, result } = body;
  assert.deepEqual([code, meant], ["domain_idna", "jo@gmail.com"]);
  assert.ok(!("did_you_mean" in (result as object)));
});

test("a malformed entry is explained by a code and a sentence", async (t) => {
  const { app } = await openApp(t);
  const answer = await app.inject("/api/explain/a/b%20c@x");
  assert.equal(answer.statusCode, 200);
  const { explanation, code, message } = answer.json<Record<string, unknown>>();
  assert.deepEqual(explanation, []);
  assert.equal(code, "local_char");
  assert.match(String(message), /^The part before the "@" holds a character.*\.$/);
});

const refusals = [
  ["an explanation without a key", "no key", "GET", "/api/explain/a.example", "", 401],
  ["a report without a key", "no key", "POST", "/api/report", "entry=a.example&wrong=dns", 401],
  ["an explanation of nothing", "key", "GET", "/api/explain/", "", 400],
  ["a report of nothing", "key", "POST", "/api/report", "wrong=dns", 400],
  ["a report that says not what is wrong", "key", "POST", "/api/report", "entry=a.example", 400],
  ["a report of an unknown field", "key", "POST", "/api/report", "entry=a.example&wrong=hue", 422],
  [
    "a report with an endless reason",
    "key",
    "POST",
    "/api/report",
    `entry=a.example&wrong=dns&reason=${"x".repeat(1_001)}`,
    422,
  ],
  ["a report by GET", "key", "GET", "/api/report?entry=a.example&wrong=dns", "", 405],
] as const;

for (const [name, key, method, url, payload, want] of refusals) {
  test(`refused and charged nothing: ${name}`, async (t) => {
    const { app, charged, reports } = await openApp(t, key);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await app.inject({ method, url, payload, headers });
    assert.deepEqual([answer.statusCode, charged()], [want, 0], answer.body);
    assert.equal(typeof answer.json<{ error: unknown }>().error, "string");
    assert.deepEqual(await reports.open(), []);
  });
}

test("a report is kept, in JSON and as a form, and the twenty-first of a day is refused", async (t) => {
  const { app, reports } = await openApp(t);
  const payload = { entry: "Ada@shop.example", wrong: "disposable", reason: "ours" };
  const first = await app.inject({ method: "POST", url: "/api/report", payload });
  assert.deepEqual(first.json<{ kept_days: number }>().kept_days, 90);
  for (let n = 1; n < 20; n += 1) {
    const { statusCode } = await app.inject({ method: "POST", url: "/api/report", payload });
    assert.equal(statusCode, 200);
  }
  const refused = await app.inject({ method: "POST", url: "/api/report", payload });
  assert.deepEqual(
    [refused.statusCode, refused.headers["retry-after"], refused.json()],
    [429, "43200", { error: "At most 20 reports a day." }],
  );
  assert.equal((await reports.open()).length, 20);
});
