import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type BulkServer, bulkServer, sessionIn } from "../../../test/bulk/bulk-http.ts";
import { domains } from "../../../test/bulk/bulk-world.ts";

const PRO = { key: "a1" } as const;
const JSON_TYPE = { "content-type": "application/json" };

/** [total, unique, invalid_format, valid] of a summary. */
function counts(body: string): readonly unknown[] {
  const stats = JSON.parse(body) as Record<string, unknown>;
  assert.equal(
    Object.keys(stats).join(),
    "total,unique,invalid_format,invalid_dns,disposable,valid,session",
  );
  return [stats["total"], stats["unique"], stats["invalid_format"], stats["valid"]];
}

/** Name, form, and what the summary counts: total, unique, invalid_format, valid. */
const lists = [
  ["commas", "bulk=1&email=a@x.example,b@x.example", [2, 2, 0, 2]],
  ["line feeds", "bulk=1&email=a@x.example%0Ab.example", [2, 2, 0, 2]],
  ["CRLF", "bulk=1&email=a@x.example%0D%0Ab@x.example%0D%0A", [2, 2, 0, 2]],
  ["tabs and blanks", "bulk=true&email=a@x.example%09b@x.example%20c.example", [3, 3, 0, 3]],
  ["empty pieces", "bulk=1&email=,,a@x.example,%20,%0A,b@x.example,,", [2, 2, 0, 2]],
  ["a blank written as a plus", "bulk=1&email=a%40x.example+b%40x.example", [2, 2, 0, 2]],
  ["a literal plus in an address", "bulk=1&email=a+b@x.example", [1, 1, 0, 1]],
  ["an encoded plus", "bulk=1&email=a%2Bb%40x.example", [1, 1, 0, 1]],
  ["case duplicates", "bulk=1&email=A@X.example,a@x.EXAMPLE", [2, 1, 0, 1]],
  [
    "IDN and punycode duplicates",
    "bulk=1&email=b%C3%BCcher.example,xn--bcher-kva.example",
    [2, 1, 0, 1],
  ],
  ["malformed entries", "bulk=1&email=a@,nonsense,x.example", [3, 3, 2, 1]],
  ["quotes", "bulk=1&email=%22a%22@x.example", [1, 1, 0, 1]],
  ["a NUL", "bulk=1&email=a%00@x.example", [1, 1, 1, 0]],
  ["names of prototypes", "bulk=1&email=__proto__,constructor,__proto__", [3, 2, 2, 0]],
  ["email and domain together", "bulk=1&email=a@x.example&domain=y.example", [2, 2, 0, 2]],
  ["a parameter twice", "bulk=1&email=a@x.example&email=b@x.example", [2, 2, 0, 2]],
  ["features are ignored", "bulk=1&email=a@x.example&features=spf,smtp", [1, 1, 0, 1]],
  ["semicolons do not separate", "bulk=1&email=a@x.example;b@x.example", [1, 1, 1, 0]],
] as const;

test("every way to write a list is split as the contract says", async (t) => {
  const server = await bulkServer(t);
  for (const [name, form, want] of lists) {
    await t.test(name, async () => {
      const { status, headers, body } = await server.post("/api/email", form, PRO);
      assert.equal(status, 200);
      assert.equal(headers.get("content-type"), "application/json");
      assert.deepEqual(counts(body), want);
    });
  }
});

/** What PHP's curl makes of an array. */
const multipartList = (boundary: string): string =>
  ['bulk"\r\n\r\n1', 'email"\r\n\r\na@x.example,y.example']
    .map((field) => `--${boundary}\r\nContent-Disposition: form-data; name="${field}\r\n`)
    .join("") + `--${boundary}--\r\n`;

const multipartAsked = (boundary: string, headers: Readonly<Record<string, string>> = {}) => ({
  ...PRO,
  headers: { "content-type": `multipart/form-data; boundary=${boundary}`, ...headers },
});

/** Name and request; each asks for a@x.example and y.example. */
const forms: readonly (readonly [string, (server: BulkServer) => ReturnType<BulkServer["ask"]>])[] =
  [
    ["GET /mass under email", (s) => s.ask("/api/email/a@x.example,y.example/mass")],
    ["GET /bulk under email", (s) => s.ask("/api/email/a@x.example,y.example/bulk")],
    ["GET /mass under domain", (s) => s.ask("/api/domain/y.example,a@x.example/mass")],
    ["GET with bulk in the query", (s) => s.ask("/api/email?bulk=1&email=a@x.example,y.example")],
    ["POST with the list in the path", (s) => s.post("/api/email/a@x.example,y.example/mass", "")],
    ["POST of domain", (s) => s.post("/api/domain", "bulk=1&domain=a@x.example,y.example")],
    [
      "POST of email under domain",
      (s) => s.post("/api/domain", "bulk=1&email=a@x.example,y.example"),
    ],
    [
      "POST with bulk in the query",
      (s) => s.post("/api/email?bulk=1", "email=a@x.example,y.example"),
    ],
    [
      "an array of PHP's",
      (s) => s.post("/api/email", "bulk=1&email%5B0%5D=a%40x.example&email%5B1%5D=y.example"),
    ],
    ["multipart", (s) => s.post("/api/email", multipartList("x"), multipartAsked("x"))],
    [
      "JSON with an array",
      (s) =>
        s.ask("/api/email", {
          headers: JSON_TYPE,
          body: '{"bulk":true,"email":["a@x.example","y.example"]}',
        }),
    ],
  ];

test("every form of a bulk request is one", async (t) => {
  const server = await bulkServer(t);
  for (const [name, send] of forms) {
    await t.test(name, async () =>
      assert.deepEqual(counts((await send(server)).body), [2, 2, 0, 2]),
    );
  }
});

test("with json every spelling has its result, in submission order, with any name", async (t) => {
  const server = await bulkServer(t);
  const list = ["z.example", "7", "__proto__", "A@x.example", "a@X.example", "a\0b", '"', "1"];
  const body = JSON.stringify({ bulk: true, json: true, email: list });
  const answer = await server.ask("/api/email", { ...PRO, headers: JSON_TYPE, body });
  const keys = [...answer.body.matchAll(/(?<=[,{])("(?:[^"\\]|\\.)*"):\{"format":/g)];
  assert.deepEqual(
    keys.map((match) => JSON.parse(match[1] ?? "") as unknown),
    list,
  );
  const read = JSON.parse(answer.body) as Record<string, Record<string, unknown>>;
  assert.deepEqual(Object.keys(read), ["session", "stats", "results"]);
  assert.ok(Object.hasOwn(read["results"] ?? {}, "__proto__"));
  assert.deepEqual(read["results"]?.["A@x.example"], read["results"]?.["a@X.example"]);
  assert.equal(read["stats"]?.["session"], read["session"]);
});

test("without json the answer is the summary alone", async (t) => {
  const server = await bulkServer(t);
  const { body } = await server.post("/api/email", "bulk=1&json=0&email=x.example", PRO);
  assert.deepEqual(counts(body), [1, 1, 0, 1]);
});

test("100 unique entries are checked at once, and more are queued, with json too", async (t) => {
  const server = await bulkServer(t);
  const small = `bulk=1&email=${domains(100).replaceAll("\n", ",")},d0.example`;
  assert.deepEqual(counts((await server.post("/api/email", small, PRO)).body), [101, 100, 0, 100]);
  const form = `bulk=1&json=1&email=${domains(101).replaceAll("\n", ",")}`;
  const { status, body } = await server.post("/api/email", form, PRO);
  assert.equal(status, 200);
  const queued = JSON.parse(body) as Record<string, unknown>;
  assert.deepEqual(Object.keys(queued), ["session", "status", "email_count", "estimated_seconds"]);
  assert.equal(queued["status"], "pending");
  assert.equal(queued["email_count"], 101);
  assert.ok(Number(queued["estimated_seconds"]) >= 1);
});

test("a list of exactly 2,000,000 octets is taken, one entry though it is", async (t) => {
  const server = await bulkServer(t);
  const form = `bulk=1&email=${"a".repeat(2_000_000)}`;
  assert.deepEqual(counts((await server.post("/api/email", form, PRO)).body), [1, 1, 1, 0]);
});

test("400,000 tiny entries are one batch", async (t) => {
  const server = await bulkServer(t);
  const form = `bulk=1&email=${"a,b,".repeat(200_000)}`;
  assert.deepEqual(counts((await server.post("/api/email", form, PRO)).body), [400_000, 2, 2, 0]);
});

const LIST = "bulk=1&email=x.example,y.example";
const withKey = (value: string) => ({ ...PRO, headers: { "idempotency-key": value } });

test("the same request with the same Idempotency-Key gets the same answer, uncharged", async (t) => {
  const server = await bulkServer(t);
  const first = await server.post("/api/email", LIST, withKey("k 1"));
  const again = await server.post("/api/email", LIST, withKey("k 1"));
  assert.equal(again.body, first.body);
  assert.equal(await server.stores.unitsUsed(), 2);
  const other = await server.post("/api/email", LIST, withKey("k 2"));
  assert.notEqual(sessionIn(other), sessionIn(first));
});

test("a multipart request is the same with another boundary", async (t) => {
  const server = await bulkServer(t);
  const ask = (boundary: string) =>
    server.post(
      "/api/email",
      multipartList(boundary),
      multipartAsked(boundary, { "idempotency-key": "k" }),
    );
  const first = await ask("x");
  assert.deepEqual(counts(first.body), [2, 2, 0, 2]);
  assert.equal((await ask("y")).body, first.body);
});

/** Name, path, form, and the media type of a request that is not the one above. */
const others = [
  ["another list", "/api/email", `${LIST},z.example`, {}],
  ["another path", "/api/domain", LIST, {}],
  ["json asked for", "/api/email", `${LIST}&json=1`, {}],
  ["another media type", "/api/email", '{"bulk":"1","email":"x.example,y.example"}', JSON_TYPE],
] as const;

test("an Idempotency-Key that was used with another body is refused", async (t) => {
  const server = await bulkServer(t);
  await server.post("/api/email", LIST, withKey("k"));
  for (const [name, path, form, headers] of others) {
    await t.test(name, async () => {
      const asked = { ...PRO, headers: { ...headers, "idempotency-key": "k" } };
      const { status, body } = await server.post(path, form, asked);
      assert.deepEqual(
        [status, body],
        [422, '{"error":"Idempotency-Key was used with another body."}'],
      );
    });
  }
});

for (const [name, key] of [
  ["an empty one", ""],
  ["one of 256 characters", "k".repeat(256)],
  ["one with a letter beyond ASCII", "k\u00e9"],
] as const) {
  test(`an invalid Idempotency-Key is refused: ${name}`, async (t) => {
    const server = await bulkServer(t);
    const { status, body } = await server.post("/api/email", LIST, withKey(key));
    assert.equal(status, 400);
    assert.match(body, /Idempotency-Key must be 1 to 255 printable/);
  });
}

test("on a GET an Idempotency-Key means nothing", async (t) => {
  const server = await bulkServer(t);
  const { status } = await server.ask("/api/email/x.example/mass", withKey(""));
  assert.equal(status, 200);
});
