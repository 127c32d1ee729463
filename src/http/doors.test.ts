import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { testServer, type TestServer } from "../../test/http/http-server.ts";
import { admittedAs, openAdmission } from "../../test/http/open-admission.ts";
import { askRaw, rawClient } from "../../test/http/raw-http.ts";
import { invalidApiKey } from "../base/refusals.ts";
import { takesGzip } from "./files.ts";
import { FORM, get, post, posted } from "../../test/http/hostile-table.ts";

let server: TestServer;
before(async () => {
  server = await testServer();
});
after(() => server.stop());

const withHost = (host: string): string => `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const withCoding = (coding: string): string =>
  `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`;

const CODES: readonly (readonly [name: string, request: string, status: number, code: string])[] = [
  ["a missing parameter", get("/api/email"), 400, "missing_parameter"],
  ["an unknown family", get("/api/nothing"), 404, "not_found"],
  ["an unknown page", get("/nothing"), 404, "not_found"],
  ["a wrong method", "PUT /api/email HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed"],
  [
    "a wrong method of a page",
    posted("").replace("/api/email", "/healthz"),
    405,
    "method_not_allowed",
  ],
  ["an unknown method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed"],
  ["another media type", post("/api/email", "text/plain", "a"), 415, "unsupported_media_type"],
  ["no HTTP at all", "garbage\r\n\r\n", 400, "bad_request"],
  ["a huge head", get("/", `X: ${"a".repeat(17_000)}`), 431, "headers_too_large"],
  ["two hosts", get("/", "Host: b"), 400, "bad_request"],
  ["a host with a blank", withHost("a b"), 400, "bad_host"],
  ["a host with a path", withHost("a/b"), 400, "bad_host"],
  ["a host with a user", withHost("u@a"), 400, "bad_host"],
  ["a host of no name", withHost(""), 400, "bad_host"],
  ["a host in open brackets", withHost("[::1"), 400, "bad_host"],
  ["a host with a port of letters", withHost("a:b"), 400, "bad_host"],
  ["a host in raw UTF-8", withHost("\xc3\xbc.example"), 400, "bad_host"],
  ["another transfer coding", withCoding("gzip, chunked"), 501, "unsupported_transfer"],
  ["another transfer coding alone", withCoding("gzip"), 501, "unsupported_transfer"],
  ["the coding identity", withCoding("identity"), 501, "unsupported_transfer"],
];

for (const [name, request, status, code] of CODES) {
  test(`${name} is refused with its code, a date and the words of CORS`, async () => {
    const { headers, ...answer } = await askRaw(server.port, request);
    assert.equal(answer.status, status, answer.body);
    assert.equal(headers["gatepost-error"], code);
    assert.match(
      headers["date"] ?? "",
      /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
    );
    if (request.includes(" /api/")) {
      const exposed = headers["access-control-expose-headers"] ?? "";
      assert.match(exposed, /Gatepost-Error, Gatepost-Notice/);
    }
  });
}

for (const host of [
  "a",
  "A.example:8080",
  "_dmarc.a",
  "127.0.0.1:1",
  "[::1]:80",
  "a:",
  "xn--a%20",
]) {
  test(`the host "${host}" is one`, async () => {
    assert.equal((await askRaw(server.port, withHost(host))).status, 200);
  });
}

test("a 401 says how to authenticate", async (t) => {
  const publicUrl = (): string => "http://a";
  const more = { publicUrl, trustedProxies: [], accessLogLinesPerSecond: 0, metricsToken: "x" };
  const closed = await testServer({ settings: more });
  t.after(() => closed.stop());
  const { status, headers } = await askRaw(closed.port, get("/metrics"));
  const said = [status, headers["www-authenticate"], headers["gatepost-error"]];
  assert.deepEqual(said, [401, "Bearer", "metrics_unauthorized"]);
});

const GZIP: readonly (readonly [accept: string | undefined, isTaken: boolean])[] = [
  ["gzip", true],
  ["deflate, GZIP;q=0.5", true],
  ["*", true],
  [undefined, false],
  ["", false],
  ["br", false],
  ["gzip;q=0", false],
  ["gzip; Q=0.000, br", false],
  ["*;q=1, gzip;q=0", false],
  ["*;q=0", false],
  ["x-gzip2", false],
];

for (const [accept, isTaken] of GZIP) {
  test(`"${String(accept)}" ${isTaken ? "takes" : "does not take"} gzip`, () => {
    const headers = accept === undefined ? {} : { "accept-encoding": accept };
    assert.equal(takesGzip({ headers }), isTaken);
  });
}

test("a fault has a code too", async (t) => {
  const broken = await testServer({
    checkOne: () => {
      throw new Error("a bug");
    },
  });
  t.after(() => broken.stop());
  const { status, headers } = await askRaw(broken.port, get("/api/email/a@x"));
  assert.deepEqual([status, headers["gatepost-error"]], [500, "internal_error"]);
});

const EXPECTING = [
  ["an unknown path", "/api/nothing", FORM, 404],
  ["another media type", "/api/email", "text/plain", 415],
  ["a body over the limit", "/api/email", FORM, 413],
] as const;

for (const [name, path, type, status] of EXPECTING) {
  test(`a client that waits for 100 Continue learns of ${name} without sending its body`, async () => {
    const length = status === 413 ? 6_100_001 : 9;
    const client = rawClient(server.port);
    client.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${String(length)}\r\nExpect: 100-continue\r\n\r\n`,
    );
    const { headers, ...answer } = await client.answer();
    assert.deepEqual([answer.status, headers["connection"]], [status, "close"]);
    assert.equal(await client.closed, undefined);
  });
}

test("a wrong key is refused without its body", async (t) => {
  const enter = () => ({ ...admittedAs("anonymous"), refusal: invalidApiKey() });
  const closed = await testServer({ admission: { ...openAdmission(), enter } });
  t.after(() => closed.stop());
  const client = rawClient(closed.port);
  client.write(
    `POST /api/email HTTP/1.1\r\nHost: a\r\nX-Api-Key: x\r\nContent-Type: ${FORM}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  );
  const { status, headers } = await client.answer();
  assert.deepEqual(
    [status, headers["www-authenticate"], headers["gatepost-error"], headers["connection"]],
    [401, "Bearer", "invalid_api_key", "close"],
  );
});

test("documents may be kept, and are asked for again by their tag", async () => {
  for (const path of ["/openapi.json", "/docs", "/docs/static/start.js", "/llms.txt"]) {
    const { status, headers } = await askRaw(server.port, get(path));
    const etag = headers["etag"] ?? "";
    assert.deepEqual([status, headers["cache-control"]], [200, "no-cache"], path);
    const again = await askRaw(server.port, get(path, `If-None-Match: ${etag}`));
    assert.deepEqual([again.status, again.body], [304, ""], path);
    const url = `http://127.0.0.1:${String(server.port)}${path}`;
    const head = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "identity" } });
    assert.deepEqual([head.status, head.headers.get("etag")], [200, etag], path);
    assert.notEqual(head.headers.get("content-length"), "0", path);
  }
});

test("an https service tells browsers to stay with https, and no other does", async (t) => {
  const publicUrl = (): string => "https://gatepost.example";
  const settings = { publicUrl, trustedProxies: [], accessLogLinesPerSecond: 0 };
  const secure = await testServer({ settings });
  t.after(() => secure.stop());
  for (const path of ["/healthz", "/api/email/a@x", "/docs", "/nothing"]) {
    const { headers } = await askRaw(secure.port, get(path));
    assert.equal(headers["strict-transport-security"], "max-age=31536000", path);
    const plain = await askRaw(server.port, get(path));
    assert.equal(plain.headers["strict-transport-security"], undefined, path);
  }
});
