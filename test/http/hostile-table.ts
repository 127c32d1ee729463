export const get = (target: string, ...headers: readonly string[]): string =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n`;

export const post = (
  target: string,
  type: string,
  body: string,
  ...headers: readonly string[]
): string =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\n${type === "" ? "" : `Content-Type: ${type}\r\n`}` +
  `${headers.map((line) => `${line}\r\n`).join("")}Content-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n${body}`;

export const FORM = "application/x-www-form-urlencoded";
export const JSON_TYPE = "application/json";
export const posted = (body: string): string => post("/api/email", FORM, body);
export const json = (body: string): string => post("/api/email", JSON_TYPE, body);
export const multipart = (body: string): string =>
  post("/api/email", "multipart/form-data; boundary=x", body);
export const part = (name: string, value: string): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** More than Node counts unless told. */
export const MANY_HEADERS = Array.from({ length: 2_500 }, (_, index) => `X-${String(index)}: a`);

/** With what stands around it in a request, a head of nearly 16 KiB. */
export const LONG = "a".repeat(16_384 - 64);

const WRONG = "Parameter email must be text, a boolean or an array of text.";
const UNKNOWN = "Not found.";
const METHOD = "Method not allowed.";
const HEADERS = "Request header fields too large.";
const MISSING = "Missing parameter: email.";
const TYPE =
  "Content-Type must be application/x-www-form-urlencoded, multipart/form-data or application/json.";
const CODED = "Content-Encoding is not supported: send the body as it is.";
const NO_JSON = "Body is not a valid JSON object.";

/** Name, request, and what the fake check was asked, or the status and words of the refusal. */
export const REQUESTS: readonly (readonly [
  name: string,
  request: string,
  ...wanted:
    readonly [text: string, ...features: string[]] | readonly [status: number, error: string],
])[] = [
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
  ["a JSON number", json('{"email":7}'), 400, WRONG],
  ["a JSON null", json('{"email":null}'), 400, WRONG],
  ["a JSON object", json('{"email":{}}'), 400, WRONG],
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
    WRONG,
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
  ["an unknown family", get("/api/nothing"), 404, UNKNOWN],
  ["the bare prefix", get("/api"), 404, UNKNOWN],
  ["the prefix and a slash", get("/api/"), 404, UNKNOWN],
  ["a family of another case", get("/api/Email/a@x"), 404, UNKNOWN],
  ["an encoded family", get("/api/%65mail/a@x"), 404, UNKNOWN],
  ["a family named like a prototype", get("/api/__proto__"), 404, UNKNOWN],
  ["an unknown path with a query", get("/api?email=a"), 404, UNKNOWN],
  ["PUT", "PUT /api/email HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  ["DELETE", "DELETE /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  ["TRACE", "TRACE /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  ["PROPFIND", "PROPFIND /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  ["QUERY", "QUERY /api/email HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  [
    "PUT with a type that is none",
    "PUT /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ;\r\nContent-Length: 1\r\n\r\nx",
    405,
    METHOD,
  ],
  ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  ["a head over 16 KiB", get(`/api/email/${LONG}`, `X: ${"a".repeat(64)}`), 431, HEADERS],
  ["a target far over 16 KiB", get(`/api/email/${"a".repeat(200_000)}`), 431, HEADERS],
  [
    "headers over their limit",
    get("/api/email/a@x", `X-Long: ${"a".repeat(100_000)}`),
    431,
    HEADERS,
  ],
  [
    "thousands of headers before the type of a form",
    post("/api/email", FORM, "email=a@x", ...MANY_HEADERS),
    431,
    HEADERS,
  ],
  ["a header of 16 KiB", get("/api/email/a@x", `X-Long: ${"a".repeat(16_384)}`), 431, HEADERS],
  [
    "a path with more than a thousand segments",
    get(`/api/email${"/a".repeat(1_001)}`),
    414,
    "Request target too long.",
  ],
  ["raw bytes above ASCII in the target", get("/api/email/\xff@x"), 400, "Bad request."],
  ["a raw NUL in the target", get("/api/email/\0"), 400, "Bad request."],
  ["a raw NUL in a header", get("/api/email/a@x", "X: \0"), 400, "Bad request."],
  ["a blank in the target", get("/api/email/a b@x"), 400, "Bad request."],
  ["an unknown method", "FETCH /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  ["a method in lower case", "get /api/email/a@x HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
  ["a method that begins like one", "GETS /api HTTP/1.1\r\nHost: a\r\n\r\n", 405, METHOD],
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
