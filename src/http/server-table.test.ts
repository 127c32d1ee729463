import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { testServer, type TestServer } from "../../test/http/http-server.ts";
import { askRaw, rawClient } from "../../test/http/raw-http.ts";
import { readError, readResult } from "../../test/http/strict-client.ts";
import {
  FORM,
  get,
  JSON_TYPE,
  LONG,
  MANY_HEADERS,
  post,
  posted,
  REQUESTS,
} from "../../test/http/hostile-table.ts";

let server: TestServer;
before(async () => {
  server = await testServer();
});
after(() => server.stop());

for (const [name, request, wanted, ...more] of REQUESTS) {
  test(`${typeof wanted === "number" ? "refused" : "checked"}: ${name}`, async () => {
    const answer = await askRaw(server.port, request);
    if (typeof wanted === "string") {
      assert.deepEqual(readResult(answer, "email")["mx_info"], [wanted, "address", ...more]);
      return;
    }
    assert.deepEqual([readError(answer, wanted)], more);
    assert.equal(answer.headers["location"], undefined);
    if (wanted === 405) assert.match(answer.headers["allow"] ?? "", /^GET, POST/);
  });
}

const domains = [
  ["a domain in the path", get("/api/domain/x.example"), "x.example"],
  ["a domain with suffixes", get("/api/domain/x.example/spf"), "x.example"],
  ["a domain in a form", post("/api/domain", FORM, "domain=x.example"), "x.example"],
  ["a domain in JSON", post("/api/domain", JSON_TYPE, '{"domain":"x.example"}'), "x.example"],
  ["a domain in the query", get("/api/domain?domain=x.example"), "x.example"],
] as const;

for (const [name, request, text] of domains) {
  test(`checked: ${name}`, async () => {
    const result = readResult(await askRaw(server.port, request), "domain");
    assert.equal(Reflect.get(result["mx_info"] ?? {}, 0), text);
  });
}

test("checked: a head of nearly 16 KiB", async () => {
  const result = readResult(await askRaw(server.port, get(`/api/email/${LONG}`)), "email");
  assert.equal(Reflect.get(result["mx_info"] ?? {}, 0), LONG);
});

test("checked: the same in the absolute form", async () => {
  const target = `http://h/api/email/${LONG.slice(8)}`;
  readResult(await askRaw(server.port, get(target)), "email");
});

test("refused: a chunked body over its limit, when all of it was sent", async () => {
  const client = rawClient(server.port);
  client.write(
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunk = Buffer.concat([
    Buffer.from("100000\r\n"),
    Buffer.alloc(1_048_576, 97),
    Buffer.from("\r\n"),
  ]);
  for (let sent = 0; sent < 8; sent += 1) client.write(chunk);
  client.write("0\r\n\r\n");
  assert.equal(readError(await client.answer(), 413), "Bulk input is too large.");
  client.write(get("/api/email/a@x"));
  readResult(await client.answer(), "email");
  client.destroy();
});

test("refused: a body over its limit is read to its end, so that the client sees why", async () => {
  const client = rawClient(server.port);
  client.write(
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 8388608\r\n\r\n`,
  );
  client.write(Buffer.alloc(8_388_608, 97));
  readError(await client.answer(), 413);
  client.write(get("/api/email/a@x"));
  readResult(await client.answer(), "email");
  client.destroy();
});

for (const [name, request] of [
  ["a body over its limit", `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\n`],
  ["a body of a bad type", "POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n"],
  ["a body that belongs nowhere", "POST /api/nothing HTTP/1.1\r\nHost: a\r\n"],
] as const) {
  test(`refused: ${name}, and the line is not cut while the client still sends`, async () => {
    const client = rawClient(server.port);
    client.write(`${request}Connection: close\r\nContent-Length: 8388608\r\n\r\n`);
    const { status } = await client.answer();
    assert.ok(status === 413 || status === 415 || status === 404, String(status));
    client.write(Buffer.alloc(8_388_608, 97));
    assert.equal(await client.closed, undefined, "nothing broke the connection");
  });
}

test("a body of 6,100,000 octets is taken", async () => {
  const body = `email=${"a".repeat(6_100_000 - 6)}`;
  const result = readResult(await askRaw(server.port, posted(body)), "email");
  assert.equal(String(Reflect.get(result["mx_info"] ?? {}, 0)).length, 6_099_994);
});

for (const [name, header] of [
  ["HEAD", "Accept: */*"],
  ["HEAD with a body that never comes", "Content-Length: 5"],
] as const) {
  test(`${name} is refused without a body`, async () => {
    const request = `HEAD /api/email/a@x HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`;
    const answer = await askRaw(server.port, request, { head: true });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers["allow"], "GET, POST, OPTIONS");
    assert.equal(answer.headers["access-control-allow-origin"], "*");
  });
}

for (const path of ["/api/email", "/api/email/a@x", "/api/domain/x", "/api/nothing", "/api"]) {
  test(`a preflight of ${path} is allowed`, async () => {
    const request = `OPTIONS ${path} HTTP/1.1\r\nHost: a\r\nOrigin: https://page.example\r\n\r\n`;
    const { status, headers } = await askRaw(server.port, request);
    assert.equal(status, 204);
    assert.equal(headers["access-control-allow-origin"], "*");
    assert.equal(headers["access-control-allow-methods"], "GET, POST, DELETE, OPTIONS");
    assert.equal(
      headers["access-control-allow-headers"],
      "X-Api-Key, Authorization, Content-Type, Idempotency-Key",
    );
    assert.equal(headers["x-ratelimit-limit"], undefined);
  });
}

test("pipelined requests are answered in order", async () => {
  const client = rawClient(server.port);
  client.write(
    get("/api/email/1@x") + posted("email=2@x") + get("/api/nothing") + get("/api/email/4@x"),
  );
  assert.deepEqual(readResult(await client.answer(), "email")["mx_info"], ["1@x", "address"]);
  assert.deepEqual(readResult(await client.answer(), "email")["mx_info"], ["2@x", "address"]);
  readError(await client.answer(), 404);
  assert.deepEqual(readResult(await client.answer(), "email")["mx_info"], ["4@x", "address"]);
  client.destroy();
});

test("an unknown method behind a good request is answered after it", async () => {
  const client = rawClient(server.port);
  client.write(`${get("/api/email/1@x")}BREW /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n`);
  readResult(await client.answer(), "email");
  readError(await client.answer(), 405);
  await client.closed;
});

test("garbage behind a good request is answered after it", async () => {
  const client = rawClient(server.port);
  client.write(`${get("/api/email/1@x")}garbage\r\n\r\n`);
  readResult(await client.answer(), "email");
  readError(await client.answer(), 400);
  await client.closed;
});

test("a request in pieces of one byte is answered", async () => {
  const client = rawClient(server.port);
  for (const character of posted("email=a%40x")) client.write(character);
  readResult(await client.answer(), "email");
  client.destroy();
});

test("a body that ends early hurts nobody else", async () => {
  const client = rawClient(server.port);
  client.write(
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 100\r\n\r\nemail=a`,
  );
  client.end();
  await client.closed;
  readResult(await askRaw(server.port, get("/api/email/a@x")), "email");
});

test("an announced body is asked for with 100 Continue", async () => {
  const client = rawClient(server.port);
  client.write(
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  );
  client.write("email=a@x");
  readResult(await client.answer(), "email");
  client.destroy();
});

const pages = [
  ["/nothing", 404, "Not found."],
  ["/%", 404, "Not found."],
  ["/%zz/x", 404, "Not found."],
  ["//api/email/a@x", 404, "Not found."],
  ["/apiemail", 404, "Not found."],
  ["*", 404, "Not found."],
  ["/healthz/x", 404, "Not found."],
] as const;

for (const [target, status, error] of pages) {
  test(`${target} is answered in JSON outside the API`, async () => {
    const answer = await askRaw(server.port, get(target));
    assert.equal(answer.status, status);
    assert.deepEqual(JSON.parse(answer.body), { error });
  });
}

test("a proxy's header behind many others keeps /metrics closed", async () => {
  const forwarded = "X-Forwarded-For: 192.0.2.1";
  assert.equal((await askRaw(server.port, get("/metrics"))).status, 200);
  assert.equal(
    (await askRaw(server.port, get("/metrics", ...MANY_HEADERS.slice(0, 300), forwarded))).status,
    403,
  );
});

test("the asterisk form names no page", async () => {
  const withPage = await testServer({
    pages: { pages: [{ method: "GET", path: "/", handle: () => ({ body: "a page" }) }] },
  });
  assert.equal((await askRaw(withPage.port, get("/"))).body, "a page");
  assert.equal((await askRaw(withPage.port, get("*"))).status, 404);
  await withPage.stop();
});
