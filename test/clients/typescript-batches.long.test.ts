import assert from "node:assert/strict";
import { test } from "node:test";
import { GatepostError, type Progress } from "../../clients/typescript/src/index.ts";
import { type Reply, serviceOf, json, gate } from "./answering-service.ts";

const STATS = { total: 2, unique: 2, invalid_format: 0, invalid_dns: 0, disposable: 1, valid: 1 };

test("a batch survives cuts and refusals with one idempotency key, and reports its progress", async (t) => {
  const session = "0123456789abcdef0123456789abcdef";
  const submits: Reply[] = [
    (response) => response.destroy(),
    (response) => json(response, 503, { error: "Restarting." }),
    (response) => json(response, 409, { error: "Twin." }),
    (response) => json(response, 429, { error: "Later." }, { "retry-after": "1" }),
    (response) => json(response, 200, { session, status: "pending", email_count: 2 }),
  ];
  const views: Reply[] = [
    (response) => json(response, 200, { session, status: "pending", email_count: 2 }),
    (response) => response.destroy(),
    (response) => json(response, 200, { session, status: "processing", email_count: 2, processed_count: 1 }), // prettier-ignore
    (response) => json(response, 200, { session, stats: { ...STATS, session }, results: { "jo@a.example": {}, __proto__x: {} } }), // prettier-ignore
  ];
  const { url, asked } = await serviceOf(t, (response, one, count) =>
    (one.method === "POST" ? submits : views)[count - 1]?.(response, one, count),
  );
  const seen: Progress[] = [];
  const bulk = await gate(url).bulk(["jo@a.example", "b.example"], {
    onProgress: (progress) => void seen.push(progress),
  });
  assert.deepEqual([bulk.session, bulk.stats.valid, bulk.results.size], [session, 1, 2]);
  assert.deepEqual(
    seen.map(({ status, done, total }) => [status, done, total]),
    [
      ["pending", 0, 2],
      ["processing", 1, 2],
      ["completed", 2, 2],
    ],
  );
  const keys = asked.flatMap(({ headers }) => headers["idempotency-key"] ?? []);
  assert.equal(keys.length, 5);
  assert.equal(new Set(keys).size, 1);
});

test("a batch that fails, expires or lasts too long names its session", async (t) => {
  const session = "feed";
  const { url } = await serviceOf(t, (response, { path }) => {
    if (path.includes("gone"))
      return json(response, 404, { error: "Session not found or expired." });
    const status = path.includes("bad") ? "failed" : "processing";
    return json(response, 200, { session, status, email_count: 9, processed_count: 1 });
  });
  const cases = [
    ["gone", "status"],
    ["bad", "failed"],
    ["slow", "timeout"],
  ] as const;
  for (const [name, kind] of cases) {
    await assert.rejects(gate(url).resumeBulk(name, { deadlineMs: 700 }), (error) => {
      assert.ok(error instanceof GatepostError);
      assert.deepEqual([error.kind, error.session], [kind, name]);
      return true;
    });
  }
});
