import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { testServer, type TestServer } from "../../../test/http/http-server.ts";
import { askRaw, rawClient } from "../../../test/http/raw-http.ts";
import { readError, readResult } from "../../../test/http/strict-client.ts";

let server: TestServer;
before(async () => {
  server = await testServer();
});
after(() => server.stop());

const get = (target: string, ...headers: readonly string[]): string =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n`;

const post = (target: string, type: string, body: string, ...headers: readonly string[]): string =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\n${type === "" ? "" : `Content-Type: ${type}\r\n`}` +
  `${headers.map((line) => `${line}\r\n`).join("")}Content-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n${body}`;

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";
const posted = (body: string): string => post("/api/email", FORM, body);
const json = (body: string): string => post("/api/email", JSON_TYPE, body);
const multipart = (body: string): string =>
  post("/api/email", "multipart/form-data; boundary=x", body);
const part = (name: string, value: string): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** More than Node counts unless told. */
const MANY_HEADERS = Array.from({ length: 2_500 }, (_, index) => `X-${String(index)}: a`);

/** Name, request, and what the fake check was asked: text, then features. */
const checks: readonly (readonly [name: string, request: string, ...asked: string[]])[] = [
  ["an address in the path", get("/api/email/a@x.example"), "a@x.example"],
  ["an encoded address in the path", get("/api/email/a%40x.example"), "a@x.example"],
  ["a plus in the path is a plus", get("/api/email/a+b@x.example"), "a+b@x.example"],
  ["an encoded plus in the path is a plus", get("/api/email/a%2Bb@x.example"), "a+b@x.example"],
  ["a stray percent sign in the path", get("/api/email/100%@x.example"), "100\ufffd@x.example"],
  ["a percent sign at the very end", get("/api/email/%"), "\ufffd"],
  ["half an escape", get("/api/email/%4"), "\ufffd4"],
  ["an escape of no digits", get("/api/email/%zz"), "\ufffdzz"],
  ["a stray percent beside a good escape", get("/api/email/%zz%40x"), "\ufffdzz@x"],
  ["an encoded NUL", get("/api/email/a%00b@x.example"), "a\0b@x.example"],
  ["encoded invalid UTF-8", get("/api/email/%ff%fe@x.example"), "\ufffd\ufffd@x.example"],
  ["an encoded overlong form", get("/api/email/%c0%af"), "\ufffd\ufffd"],
  ["encoded UTF-8", get("/api/email/%C3%BC@x.example"), "\u00fc@x.example"],
  ["an encoded line break", get("/api/email/a%0d%0ab"), "a\r\nb"],
  ["an encoded slash never splits", get("/api/email/a@x.example%2Fspf"), "a@x.example/spf"],
  ["a raw slash in the local part", get("/api/email/a/b@x.example"), "a/b@x.example"],
  ["dots are not walked", get("/api/email/../x"), "../x"],
  ["one trailing slash is ignored", get("/api/email/a@x.example/"), "a@x.example"],
  [
    "a second trailing slash is an unknown suffix, ignored",
    get("/api/email/a@x.example//"),
    "a@x.example",
  ],
  ["suffixes", get("/api/email/a@x.example/spf/DKIM"), "a@x.example", "spf", "dkim"],
  ["suffixes and a trailing slash", get("/api/email/a@x.example/spf/"), "a@x.example", "spf"],
  ["a suffix name alone is the entry", get("/api/email/spf"), "spf"],
  ["features in the query", get("/api/email/a@x?features=spf,what,smtp"), "a@x", "spf", "smtp"],
  ["suffix and query together", get("/api/email/a@x/dkim?features=spf"), "a@x", "dkim", "spf"],
  ["a parameter in the query", get("/api/email?email=a%40x"), "a@x"],
  ["a trailing slash before the query", get("/api/email/?email=a%40x"), "a@x"],
  ["a stray percent sign in the query", get("/api/email?email=%&x=%zz"), "%"],
  ["the path wins over the query", get("/api/email/p@x?email=q@x"), "p@x"],
  ["a question mark in the query", get("/api/email?email=a?b"), "a?b"],
  ["the first of a repeated parameter", get("/api/email?email=a&email=b"), "a"],
  ["no Accept and no User-Agent", "GET /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", "a@x"],
  ["HTTP/1.0", "GET /api/email/a@x HTTP/1.0\r\n\r\n", "a@x"],
  ["an Accept of something else", get("/api/email/a@x", "Accept: text/html"), "a@x"],
  ["a Content-Type on a GET", get("/api/email/a@x", "Content-Type: application/json"), "a@x"],
  ["a nonsense Content-Type on a GET", get("/api/email/a@x", "Content-Type: ;;;"), "a@x"],
  ["the absolute form", get("http://api.example/api/email/a@x"), "a@x"],
  ["the absolute form with a port and a query", get("HTTP://h:80/api/email?email=a@x"), "a@x"],
  ["an unknown expectation", get("/api/email/a@x", "Expect: the best"), "a@x"],
  ["an offer to upgrade", get("/api/email/a@x", "Connection: Upgrade", "Upgrade: h2c"), "a@x"],
  ["a blank value is a value", get("/api/email/%20"), " "],
  ["a form", posted("email=a%40x.example&features=spf"), "a@x.example", "spf"],
  ["a literal plus in a form", posted("email=a+b@x.example"), "a+b@x.example"],
  ["a literal plus before an encoded at sign in a form", posted("email=a+b%40x"), "a+b@x"],
  ["a stray percent sign in a form", posted("email=100%"), "100%"],
  ["raw bytes in a form", posted("email=\xff\xfe@x"), "\ufffd\ufffd@x"],
  ["raw UTF-8 in a form", posted("email=\xc3\xbc@x"), "\u00fc@x"],
  ["a raw NUL in a form", posted("email=a\0b"), "a\0b"],
  ["a form with an empty encoding", post("/api/email", FORM, "email=a", "Content-Encoding: "), "a"],
  [
    "a form that says it is not encoded",
    post("/api/email", FORM, "email=a", "Content-Encoding: Identity"),
    "a",
  ],
  [
    "a form whose type stands behind thousands of headers",
    `POST /api/email HTTP/1.1\r\nHost: a\r\n${[...MANY_HEADERS, `Content-Type: ${FORM}`].join("\r\n")}\r\nContent-Length: 9\r\n\r\nemail=a@x`,
    "a@x",
  ],
  ["a form with a charset", post("/api/email", `${FORM}; charset=UTF-8`, "email=a@x"), "a@x"],
  ["a media type in another case", post("/api/email", FORM.toUpperCase(), "email=a@x"), "a@x"],
  ["a parameter beside an empty body", post("/api/email?email=a@x", FORM, ""), "a@x"],
  ["a POST without a body", "POST /api/email?email=a@x HTTP/1.1\r\nHost: a\r\n\r\n", "a@x"],
  ["an empty body of any type", post("/api/email?email=a@x", "text/plain", ""), "a@x"],
  ["the body wins over the query", post("/api/email?email=q", FORM, "email=b"), "b"],
  ["a POST with the entry in the path", post("/api/email/p@x", FORM, "email=b"), "p@x"],
  ["JSON", json('{"email":"a@x","features":["spf","dkim"]}'), "a@x", "spf", "dkim"],
  ["JSON behind a byte order mark", json('\xef\xbb\xbf{"email":"a@x"}'), "a@x"],
  [
    "a form in the charset that it declares",
    post("/api/email", `${FORM}; charset=ISO-8859-1`, "email=jos%E9@b\xfccher.example"),
    "jos\u00e9@b\u00fccher.example",
  ],
  [
    "a form that declares another charset than its own",
    post("/api/email", `${FORM}; charset=ISO-8859-1`, "email=jos%C3%A9@b\xc3\xbccher.example"),
    "jos\u00e9@b\u00fccher.example",
  ],
  [
    "JSON in the charset that it declares",
    post("/api/email", `${JSON_TYPE}; charset=iso-8859-1`, '{"email":"jos\xe9@x"}'),
    "jos\u00e9@x",
  ],
  ["a form behind a byte order mark", posted("\xef\xbb\xbfemail=a@x"), "a@x"],
  [
    "features as an array of PHP's",
    posted("email=a&features[]=spf&features[]=dkim"),
    "a",
    "spf",
    "dkim",
  ],
  [
    "multipart",
    multipart(`${part("email", "a+b%40x")}${part("features", "spf")}--x--`),
    "a+b%40x",
    "spf",
  ],
  [
    "multipart that a client announces first",
    post(
      "/api/email",
      "multipart/form-data; boundary=x",
      `${part("email", "a@x")}--x--`,
      "Expect: 100-continue",
    ),
    "a@x",
  ],
  ["JSON with a literal plus", json('{"email":"a+b@x"}'), "a+b@x"],
  ["JSON with a NUL", json('{"email":"a\\u0000b"}'), "a\0b"],
  ["JSON with half a surrogate pair", json('{"email":"\\ud800@x"}'), "\ud800@x"],
  ["JSON with an array", json('{"email":["a@x","b@x"]}'), "a@x"],
  ["JSON with a boolean", json('{"email":true}'), "true"],
  ["JSON that names a prototype", json('{"__proto__":{"email":"no"},"email":"a@x"}'), "a@x"],
  [
    "a chunked body",
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n` +
      "6\r\nemail=\r\n3\r\na@x\r\n0\r\n\r\n",
    "a@x",
  ],
];

for (const [name, request, text, ...features] of checks) {
  test(`checked: ${name}`, async () => {
    const result = readResult(await askRaw(server.port, request), "email");
    assert.deepEqual(result["mx_info"], [text, "address", ...features]);
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

const LONG = "a".repeat(65_536 - "/api/email/".length);

test("checked: a target of 64 KiB", async () => {
  const result = readResult(await askRaw(server.port, get(`/api/email/${LONG}`)), "email");
  assert.equal(Reflect.get(result["mx_info"] ?? {}, 0), LONG);
});

test("checked: a target of 64 KiB in the absolute form", async () => {
  const target = `http://h/api/email/${LONG.slice(8)}`;
  readResult(await askRaw(server.port, get(target)), "email");
});

const MISSING = "Missing parameter: email.";
const TYPE =
  "Content-Type must be application/x-www-form-urlencoded, multipart/form-data or application/json.";
const CODED = "Content-Encoding is not supported: send the body as it is.";
const NO_JSON = "Body is not a valid JSON object.";

const refusals: readonly (readonly [
  name: string,
  request: string,
  status: number,
  error: string,
])[] = [
  ["no parameter", get("/api/email"), 400, MISSING],
  ["an empty path", get("/api/email/"), 400, MISSING],
  ["an empty segment", get("/api/email//"), 400, MISSING],
  ["an empty query parameter", get("/api/email?email="), 400, MISSING],
  ["an empty form parameter", posted("email="), 400, MISSING],
  ["an empty form", posted("&&=&"), 400, MISSING],
  ["the other parameter", posted("domain=x.example"), 400, MISSING],
  ["an empty JSON object", json("{}"), 400, MISSING],
  ["an empty JSON array", json('{"email":[]}'), 400, MISSING],
  ["no domain", get("/api/domain"), 400, "Missing parameter: domain."],
  [
    "a JSON number",
    json('{"email":7}'),
    400,
    "Parameter email must be text, a boolean or an array of text.",
  ],
  [
    "a JSON null",
    json('{"email":null}'),
    400,
    "Parameter email must be text, a boolean or an array of text.",
  ],
  [
    "a JSON object",
    json('{"email":{}}'),
    400,
    "Parameter email must be text, a boolean or an array of text.",
  ],
  [
    "features of a wrong type",
    json('{"email":"a","features":7}'),
    400,
    "Parameter features must be text, a boolean or an array of text.",
  ],
  ["broken JSON", json('{"email":'), 400, NO_JSON],
  ["a JSON array", json('["a@x"]'), 400, NO_JSON],
  ["a JSON text", json('"a@x"'), 400, NO_JSON],
  ["JSON null", json("null"), 400, NO_JSON],
  ["deep JSON", json("[".repeat(50_000)), 400, NO_JSON],
  ["plain text", post("/api/email", "text/plain", "a@x"), 415, TYPE],
  ["multipart without parts", multipart("--x--"), 400, MISSING],
  ["multipart cut short", multipart(part("email", "a@x")), 400, "The multipart body is broken."],
  [
    "multipart without a boundary",
    post("/api/email", "multipart/form-data", "--x--"),
    400,
    "The multipart body has no boundary.",
  ],
  [
    "a file in the place of the address",
    multipart(`${part('email"; filename="a.txt', "a@x")}--x--`),
    400,
    "Parameter email must be text, a boolean or an array of text.",
  ],
  [
    "another kind of multipart",
    post("/api/email", "multipart/mixed; boundary=x", "--x--"),
    415,
    TYPE,
  ],
  ["a media type that is none", post("/api/email", ";;;", "email=a"), 415, TYPE],
  ["no media type", post("/api/email", "", "email=a"), 415, TYPE],
  ["a compressed body", post("/api/email", FORM, "email=a", "Content-Encoding: gzip"), 415, CODED],
  ["compressed JSON", post("/api/email", JSON_TYPE, "{}", "Content-Encoding: br"), 415, CODED],
  ["an unknown family", get("/api/nothing"), 404, "Not found."],
  ["the bare prefix", get("/api"), 404, "Not found."],
  ["the prefix and a slash", get("/api/"), 404, "Not found."],
  ["a family of another case", get("/api/Email/a@x"), 404, "Not found."],
  ["an encoded family", get("/api/%65mail/a@x"), 404, "Not found."],
  ["a family named like a prototype", get("/api/__proto__"), 404, "Not found."],
  ["an unknown path with a query", get("/api?email=a"), 404, "Not found."],
  ["PUT", "PUT /api/email HTTP/1.1\r\nHost: a\r\n\r\n", 405, "Method not allowed."],
  ["DELETE", "DELETE /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, "Method not allowed."],
  ["TRACE", "TRACE /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, "Method not allowed."],
  ["PROPFIND", "PROPFIND /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, "Method not allowed."],
  ["QUERY", "QUERY /api/email HTTP/1.1\r\nHost: a\r\n\r\n", 405, "Method not allowed."],
  [
    "PUT with a type that is none",
    "PUT /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ;\r\nContent-Length: 1\r\n\r\nx",
    405,
    "Method not allowed.",
  ],
  ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405, "Method not allowed."],
  ["a target of 64 KiB and one", get(`/api/email/${LONG}a`), 414, "Request target too long."],
  [
    "a target far over 64 KiB",
    get(`/api/email/${"a".repeat(200_000)}`),
    431,
    "Request header fields too large.",
  ],
  [
    "headers over their limit",
    get("/api/email/a@x", `X-Long: ${"a".repeat(100_000)}`),
    431,
    "Request header fields too large.",
  ],
  ["raw bytes above ASCII in the target", get("/api/email/\xff@x"), 400, "Bad request."],
  ["a raw NUL in the target", get("/api/email/\0"), 400, "Bad request."],
  ["a raw NUL in a header", get("/api/email/a@x", "X: \0"), 400, "Bad request."],
  ["a blank in the target", get("/api/email/a b@x"), 400, "Bad request."],
  [
    "an unknown method",
    "FETCH /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n",
    405,
    "Method not allowed.",
  ],
  [
    "a method in lower case",
    "get /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n",
    405,
    "Method not allowed.",
  ],
  [
    "a method that begins like one",
    "GETS /api HTTP/1.1\r\nHost: a\r\n\r\n",
    405,
    "Method not allowed.",
  ],
  ["an unknown method of no HTTP", "FETCH /api/email/a@x\r\n\r\n", 400, "Bad request."],
  ["no HTTP at all", "\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, "Bad request."],
  ["HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "Bad request."],
  [
    "a length that is no number",
    "POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    400,
    "Bad request.",
  ],
  [
    "two lengths",
    "POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    400,
    "Bad request.",
  ],
  [
    "a length and chunks",
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    "Bad request.",
  ],
  [
    "a chunk size that is no number",
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    400,
    "Bad request.",
  ],
  [
    "a header line that is none",
    "GET /api/email/a@x HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n",
    400,
    "Bad request.",
  ],
  [
    "a body over its limit by its length",
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 6100001\r\n\r\nemail=a`,
    413,
    "Bulk input is too large.",
  ],
  [
    "a length beyond all numbers",
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 9007199254740993\r\n\r\n`,
    413,
    "Bulk input is too large.",
  ],
];

for (const [name, request, status, error] of refusals) {
  test(`refused: ${name}`, async () => {
    const answer = await askRaw(server.port, request);
    assert.equal(readError(answer, status), error);
    assert.equal(answer.headers["location"], undefined);
    if (status === 405) assert.match(answer.headers["allow"] ?? "", /^GET, POST/);
  });
}

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
  ["/%", 400, "Bad request."],
  ["/%zz/x", 400, "Bad request."],
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

test("a proxy's header behind thousands of others keeps /metrics closed", async () => {
  const forwarded = "X-Forwarded-For: 192.0.2.1";
  assert.equal((await askRaw(server.port, get("/metrics"))).status, 200);
  assert.equal(
    (await askRaw(server.port, get("/metrics", ...MANY_HEADERS, forwarded))).status,
    403,
  );
});

test("the asterisk form names no page", async () => {
  const withPage = await testServer({ pages: async (app) => void app.get("/", () => "a page") });
  assert.equal((await askRaw(withPage.port, get("/"))).body, "a page");
  assert.equal((await askRaw(withPage.port, get("*"))).status, 404);
  await withPage.stop();
});
