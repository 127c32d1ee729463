import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type BulkServer, bulkServer, sessionIn } from "../../../test/bulk/bulk-http.ts";
import { domains } from "../../../test/bulk/bulk-world.ts";
import { until } from "../../../test/time/until.ts";

const OWNER = { key: "a1" } as const;
const LIST = "bulk=1&email=B@x.example,nonsense,c.example,b@x.example";
const many = `bulk=1&email=${domains(101).replaceAll("\n", ",")}`;

const NOT_FOUND = '{"error":"Session not found or expired."}';
const PLAIN = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";

async function synchronous(server: BulkServer, form = LIST): Promise<string> {
  return `/api/view/${sessionIn(await server.post("/api/email", form, OWNER))}`;
}

const lines = "B@x.example\nc.example";
const line = "B@x.example,c.example";
const OCTETS = "application/octet-stream";

/** What stands behind the session; body, and content type. */
const suffixes = [
  ["", lines, PLAIN],
  ["/", lines, PLAIN],
  ["/separator", line, PLAIN],
  ["/separate", line, PLAIN],
  ["/comma", line, PLAIN],
  ["/Comma/", line, PLAIN],
  ["/download", lines, OCTETS],
  ["/download/separator", line, OCTETS],
  ["/separator/download", line, OCTETS],
  ["/comma/separate/download", line, OCTETS],
  ["?download=1", lines, OCTETS],
  ["?separator=true", line, PLAIN],
  ["?download=1&comma=1", line, OCTETS],
  ["/download?separate=1", line, OCTETS],
  ["?download=0&separator=0", lines, PLAIN],
  ["?separator=,", line, PLAIN],
  ["?separator=%2C", line, PLAIN],
  ["?separator=Comma", line, PLAIN],
  ["?separator=new-line", lines, PLAIN],
  ["?session=x&separator=", lines, PLAIN],
] as const;

test("the valid list is plain text, and its suffixes combine in any order", async (t) => {
  const server = await bulkServer(t);
  const view = await synchronous(server);
  for (const [suffix, want, type] of suffixes) {
    await t.test(`GET ${suffix}`, async () => {
      const { status, headers, body } = await server.ask(view + suffix, OWNER);
      assert.deepEqual([status, body, headers.get("content-type")], [200, want, type]);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      const disposition = type === OCTETS ? 'inline; filename="valid_list.txt"' : null;
      assert.equal(headers.get("content-disposition"), disposition);
    });
  }
  await t.test("POST with parameters in the body", async () => {
    const { body, headers } = await server.post(view, "download=1&separator=1", OWNER);
    assert.deepEqual([body, headers.get("content-type")], [line, OCTETS]);
  });
});

const unknown = ["/what", "/download/what", "/__proto__", "/json/csv", "/events", "//download"];

test("an unknown suffix is 404", async (t) => {
  const server = await bulkServer(t);
  const view = await synchronous(server);
  for (const suffix of unknown) {
    const { status, body } = await server.ask(view + suffix, OWNER);
    assert.deepEqual([suffix, status, body], [suffix, 404, '{"error":"Not found."}']);
  }
});

test("a job is pending, then processing, then a list, and answers nothing else before", async (t) => {
  const admission = { open: (): void => undefined };
  const opened = new Promise<void>((resolve) => (admission.open = resolve));
  const server = await bulkServer(t, {
    lookup: {
      mx: async (name) => {
        if (name === "d600.example") await opened;
        return { kind: "found", records: [{ preference: 10, host: `mx.${name}` }] };
      },
      addresses: () => ({ kind: "found", records: ["203.0.113.5"] }),
      txt: () => ({ kind: "unknown", why: "timeout" }),
      registration: () => ({ kind: "unknown", why: "timeout" }),
    },
  });
  const form = `bulk=1&email=${domains(700).replaceAll("\n", ",")}`;
  const session = sessionIn(await server.post("/api/email", form, OWNER));
  const read = async (suffix = ""): Promise<unknown> =>
    JSON.parse((await server.ask(`/api/view/${session}${suffix}`, OWNER)).body);
  assert.deepEqual(await read(), { session, status: "pending", email_count: 700 });
  server.worker().start();
  const processing = await until(async () => {
    const seen = (await read()) as { readonly processed_count?: number };
    return seen.processed_count === 500 ? seen : undefined;
  });
  assert.deepEqual(processing, {
    session,
    status: "processing",
    email_count: 700,
    processed_count: 500,
  });
  assert.deepEqual([await read("/json"), await read("/csv")], [processing, processing]);
  admission.open();
  const list = await until(async () => {
    const { headers, body } = await server.ask(`/api/view/${session}`, OWNER);
    return headers.get("content-type") === PLAIN ? body : undefined;
  });
  assert.equal(list, domains(700));
});

test("a finished batch without a valid entry is a summary", async (t) => {
  const server = await bulkServer(t);
  const view = await synchronous(server, "bulk=1&email=nonsense,nonsense,x");
  const session = view.slice("/api/view/".length);
  for (const suffix of ["", "/download"]) {
    const { headers, body } = await server.ask(view + suffix, OWNER);
    assert.equal(headers.get("content-type"), JSON_TYPE);
    assert.equal(
      body,
      JSON.stringify({
        session,
        status: "completed",
        email_count: 2,
        processed_count: 2,
        total: 3,
        unique: 2,
        invalid_format: 2,
        invalid_dns: 0,
        disposable: 0,
        valid: 0,
      }),
    );
  }
});

const FROM = "192.0.2.1";
const ELSEWHERE = "192.0.2.2";

/** Session of, who asks; whether the list, and everything beyond it, is theirs. */
const access = [
  ["sync of an account", "the account", OWNER, true, true],
  ["sync of an account", "the account from elsewhere", { ...OWNER, from: ELSEWHERE }, true, true],
  ["sync of an account", "no account, from the address", { from: FROM }, true, false],
  ["sync of an account", "no account, from elsewhere", { from: ELSEWHERE }, false, false],
  ["sync of an account", "another account", { key: "a2" }, false, false],
  ["job of an account", "the account", OWNER, true, true],
  ["job of an account", "the account from elsewhere", { ...OWNER, from: ELSEWHERE }, true, true],
  ["job of an account", "no account, from the address", { from: FROM }, false, false],
  ["job of an account", "another account", { key: "a2" }, false, false],
  ["sync without an account", "the address", { from: FROM }, true, true],
  ["sync without an account", "another address", { from: ELSEWHERE }, false, false],
  ["sync without an account", "an account at the address", { key: "a2" }, true, true],
  ["job without an account", "the address", { from: FROM }, true, true],
  ["job without an account", "another address", { from: ELSEWHERE }, false, false],
] as const;

test("sessions are for whom they are, and for all others they do not exist", async (t) => {
  const server = await bulkServer(t);
  const sessions = new Map([
    ["sync of an account", sessionIn(await server.post("/api/email", LIST, OWNER))],
    ["job of an account", sessionIn(await server.post("/api/email", many, OWNER))],
    ["sync without an account", sessionIn(await server.post("/api/email", LIST))],
    ["job without an account", sessionIn(await server.post("/api/email", many))],
  ]);
  for (const [of, who, asked, sees, owns] of access) {
    await t.test(`${of}: ${who}`, async () => {
      const view = `/api/view/${sessions.get(of) ?? ""}`;
      const status = async (suffix: string): Promise<number> =>
        (await server.ask(view + suffix, asked)).status;
      assert.equal(await status(""), sees ? 200 : 404);
      const want = owns ? 200 : 404;
      assert.deepEqual([await status("/json"), await status("/csv")], [want, want]);
      if (owns) return;
      const removal = await server.ask(view, { ...asked, method: "DELETE" });
      assert.deepEqual([removal.status, removal.body], [404, NOT_FOUND]);
    });
  }
});

const strangers = [
  "0123456789abcdef0123456789abcdef",
  "0123456789ABCDEF0123456789ABCDEF",
  "short",
  "__proto__",
  "%00",
  "'%20or%201=1",
  "a".repeat(5_000),
];

test("unknown, malformed and expired sessions are the same 404", async (t) => {
  const server = await bulkServer(t);
  for (const session of strangers) {
    const { status, body } = await server.ask(`/api/view/${session}`, OWNER);
    assert.deepEqual([status, body], [404, NOT_FOUND]);
  }
  const view = await synchronous(server);
  server.stores.clock.advance(15 * 60_000 - 1);
  assert.equal((await server.ask(view, OWNER)).status, 200);
  server.stores.clock.advance(1);
  assert.equal((await server.ask(view, OWNER)).body, NOT_FOUND);
});

test("no session at all is a missing parameter", async (t) => {
  const server = await bulkServer(t);
  for (const path of ["/api/view", "/api/view/"]) {
    const { status, body } = await server.ask(path, OWNER);
    assert.deepEqual([status, body], [400, '{"error":"Missing parameter: session."}']);
  }
});

test("/json gives the session, the summary and every result", async (t) => {
  const server = await bulkServer(t);
  const sync = await server.post("/api/email", `${LIST}&json=1`, OWNER);
  const { body, headers } = await server.ask(`/api/view/${sessionIn(sync)}/json`, OWNER);
  const why = ',"code":"dotless","message":"The domain has no dot."';
  assert.ok(body.includes(why));
  assert.equal(body.replace(why, ""), sync.body);
  assert.equal(headers.get("content-type"), JSON_TYPE);
  assert.equal(headers.get("content-disposition"), null);
});

test("among addresses /json tells a lost at sign from a bare domain", async (t) => {
  const server = await bulkServer(t);
  const list = "bulk=1&email=a@x.example,b@x.example,c@x.example,zo1827gmail.com,x.example";
  const sync = await server.post("/api/email", list, OWNER);
  const { body } = await server.ask(`/api/view/${sessionIn(sync)}/json`, OWNER);
  const { results } = JSON.parse(body) as { results: Record<string, Record<string, unknown>> };
  const lost = results["zo1827gmail.com"] ?? {};
  assert.deepEqual([lost["code"], lost["did_you_mean"]], ["lost_at", "zo1827@gmail.com"]);
  const keys = Object.keys(lost);
  assert.equal(keys.indexOf("did_you_mean"), keys.indexOf("signals") + 1);
  assert.equal(results["x.example"]?.["code"], "bare_domain");
  assert.equal(results["a@x.example"]?.["code"], undefined);
});

test("/csv has a header, one row for each spelling, and no formulas", async (t) => {
  const server = await bulkServer(t);
  const list = ["=cmd@x.example", "-1.example", "+a@x.example", 'quo"te', "plain.example"];
  const body = JSON.stringify({ bulk: true, email: list });
  const sync = await server.ask("/api/email", {
    ...OWNER,
    headers: { "content-type": "application/json" },
    body,
  });
  const csv = await server.ask(`/api/view/${sessionIn(sync)}/csv/download`, OWNER);
  assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal(csv.headers.get("content-disposition"), 'attachment; filename="results.csv"');
  const rows = csv.body.split("\r\n");
  assert.match(rows[0] ?? "", /^entry,status,format,domain,disposable,dns,/);
  assert.deepEqual(
    rows.slice(1).map((row) => row.split(",").slice(0, 2).join()),
    [
      "'=cmd@x.example,valid",
      "'-1.example,invalid_format",
      "'+a@x.example,valid",
      '"quo""te",invalid_format',
      "plain.example,valid",
      "",
    ],
  );
});

test("DELETE forgets results, and cancels a job whose slot is free then", async (t) => {
  const server = await bulkServer(t);
  for (const form of [LIST, many, many]) {
    const session = sessionIn(await server.post("/api/email", form, OWNER));
    const removed = await server.ask(`/api/view/${session}`, { ...OWNER, method: "DELETE" });
    assert.deepEqual(
      [removed.status, removed.body],
      [200, `{"session":"${session}","deleted":true}`],
    );
    assert.equal((await server.ask(`/api/view/${session}`, OWNER)).body, NOT_FOUND);
    const again = await server.ask(`/api/view/${session}`, { ...OWNER, method: "DELETE" });
    assert.equal(again.status, 404);
  }
});

test("DELETE with a suffix removes nothing", async (t) => {
  const server = await bulkServer(t);
  const view = await synchronous(server);
  for (const suffix of ["/json", "/download", "?csv=1"]) {
    assert.equal((await server.ask(view + suffix, { ...OWNER, method: "DELETE" })).status, 404);
  }
  assert.equal((await server.ask(view, OWNER)).status, 200);
});

test("a refused method learns which ones work", async (t) => {
  const server = await bulkServer(t);
  const { status, headers } = await server.ask("/api/view/x", { method: "PUT" });
  assert.equal(status, 405);
  assert.equal(headers.get("allow"), "GET, POST, DELETE, OPTIONS");
});
