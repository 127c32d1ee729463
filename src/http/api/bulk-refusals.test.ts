import { strict as assert } from "node:assert";
import { test } from "node:test";
import { bulkServer, sessionIn } from "../../../test/bulk/bulk-http.ts";
import { domains } from "../../../test/bulk/bulk-world.ts";

const PRO = { key: "a1" } as const;

const TOO_LARGE = "Bulk input is too large.";

/** Name, form, status and error. */
const refusals = [
  ["no parameter", "/api/email", "bulk=1", 400, "Missing parameter: email."],
  ["an empty list", "/api/email", "bulk=1&email=", 400, "Missing parameter: email."],
  ["only separators", "/api/email", "bulk=1&email=,%20%0A,", 400, "Missing parameter: email."],
  [
    "only separators in domains",
    "/api/domain",
    "bulk=1&domain=,",
    400,
    "Missing parameter: domain.",
  ],
  [
    "3 MB of separators",
    "/api/email",
    `bulk=1&email=${",".repeat(3e6)}`,
    400,
    "Missing parameter: email.",
  ],
  ["2,000,001 octets", "/api/email", `bulk=1&email=${"a".repeat(2_000_001)}`, 413, TOO_LARGE],
  [
    "2,000,001 encoded octets",
    "/api/email",
    `bulk=1&email=${"%61".repeat(2_000_001)}`,
    413,
    TOO_LARGE,
  ],
  [
    "two parameters over the limit together",
    "/api/email",
    `bulk=1&email=${"a".repeat(1e6)}&domain=${"b".repeat(1e6)}`,
    413,
    TOO_LARGE,
  ],
  [
    "a body over 6,100,000 octets",
    "/api/email",
    `bulk=1&email=${"%61".repeat(2_100_000)}`,
    413,
    TOO_LARGE,
  ],
] as const;

test("an invalid batch is refused in one field", async (t) => {
  const server = await bulkServer(t);
  for (const [name, path, form, status, error] of refusals) {
    await t.test(name, async () => {
      const answer = await server.post(path, form, PRO);
      assert.deepEqual([answer.status, JSON.parse(answer.body)], [status, { error }]);
    });
  }
});

test("over the tier's limit the answer names both numbers", async (t) => {
  const server = await bulkServer(t);
  const form = `bulk=1&email=${domains(10_001).replaceAll("\n", ",")}`;
  const { status, body } = await server.post("/api/email", form);
  assert.equal(status, 422);
  assert.equal(body, '{"error":"Maximum 10000 unique emails allowed. Tried to load 10001."}');
});

test("a second job of the same owner is refused, and the cooldown names its seconds", async (t) => {
  const server = await bulkServer(t);
  const form = `bulk=1&email=${domains(101).replaceAll("\n", ",")}`;
  const first = await server.post("/api/email", form);
  assert.equal(first.status, 200);
  const second = await server.post("/api/email", form);
  assert.equal(second.status, 429);
  assert.match(second.body, /^\{"error":"You already have a bulk job in progress\. Wait/);
  assert.equal(second.headers.get("retry-after"), "10");
  await server.ask(`/api/view/${sessionIn(first)}`, { method: "DELETE" });
  const third = await server.post("/api/email", form);
  assert.equal(
    third.body,
    '{"error":"Please wait 60 seconds before submitting another bulk job."}',
  );
  assert.equal(third.headers.get("retry-after"), "60");
});

/** Name, path and form; whether it is many entries that are asked for. */
const spent = [
  ["a single check by POST", "/api/email", "email=a@x.example", false],
  ["a list by POST", "/api/email", "email=a@x.example&bulk=1", true],
  ["a list in the path", "/api/email/a@x.example/mass", "", true],
  ["a list by query", "/api/email?bulk=true", "email=a@x.example", true],
  ["a large body", "/api/email", `email=${"a".repeat(20_000)}&bulk=1`, true],
  ["a broken body", "/api/email", "bulk", false],
  ["a session", "/api/view/0123456789abcdef0123456789abcdef", "", true],
  ["an upload", "/api/bulk/upload", "", true],
] as const;

test("a spent rate tells single checks how long in the body, all others in the header alone", async (t) => {
  const server = await bulkServer(t);
  for (const [name, path, form, isBulk] of spent) {
    await t.test(name, async () => {
      const { status, headers, body } = await server.post(path, form, { key: "spent" });
      assert.equal(status, 429);
      assert.equal(headers.get("retry-after"), "17");
      const error = "Rate limit exceeded. Try again in 17 seconds.";
      assert.deepEqual(JSON.parse(body), isBulk ? { error } : { error, retry_after: 17 });
    });
  }
});
