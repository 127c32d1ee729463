import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { appWith } from "../../../test/http/http-app.ts";
import { callerAt, openAdmission } from "../../../test/http/open-admission.ts";
import type { Admission, Admitted } from "../../accounts/admission/admission.ts";
import { invalidApiKey, rateExceeded } from "../../base/refusals.ts";
import { disposablePages } from "./disposable-page.ts";
import { inject } from "../../../test/http/inject.ts";
import type { Credentials } from "../../accounts/admission/caller.ts";

const TEXT = "# remark\na.example\nb.example\n";
const FILES = {
  txt: { gzip: gzipSync(TEXT), etag: 'W/"1a"' },
  wildcards: { gzip: gzipSync("a.example\n*.a.example\n"), etag: 'W/"1b"' },
  comma: { gzip: gzipSync("a.example,b.example"), etag: 'W/"1c"' },
  wildcardsComma: { gzip: gzipSync("a.example,*.a.example"), etag: 'W/"1d"' },
  json: { gzip: gzipSync("{}"), etag: 'W/"2b"' },
};

const PACKED = { gzip: gzipSync("tables"), etag: 'W/"3c"' };

const KEY = { ...callerAt("192.0.2.1", "free"), keyId: "k1" };
const RATE = { limit: 60, remaining: 59 };

function open(admitted: Admitted, entered: (given: Credentials) => void = () => undefined) {
  let made = 0;
  const enter = (given: Credentials) => {
    entered(given);
    return admitted;
  };
  const admission: Admission = { ...openAdmission("free"), enter };
  const published = () => {
    made += 1;
    return Promise.resolve(FILES);
  };
  const packed = () => Promise.resolve(PACKED);
  const free = () => Promise.resolve({ ...FILES, txt: PACKED });
  const deps = { published, free, packed, admission, trustedProxies: [] };
  const app = appWith({ pages: { pages: disposablePages(deps) } });
  return { app, made: () => made };
}

test("a key gets the list, compressed if it takes that, and nothing if it holds it", async () => {
  const { app } = open({ caller: KEY, hasCredits: false, rate: RATE });
  const plain = await inject(app, "/feeds/disposable.txt");
  assert.deepEqual([plain.statusCode, plain.body], [200, TEXT]);
  assert.equal(plain.headers["content-type"], "text/plain; charset=utf-8");
  assert.equal(plain.headers["cache-control"], "private, max-age=300");
  assert.equal(plain.headers["x-ratelimit-remaining"], "59");
  const takes: readonly (readonly [encoding: string, isGzip: boolean])[] = [
    ["gzip", true],
    ["br, GZIP;q=0.5", true],
    ["*", true],
    ["gzip;q=0", false],
    ["identity", false],
  ];
  for (const [encoding, isGzip] of takes) {
    const headers = { "accept-encoding": encoding };
    const answer = await inject(app, { url: "/feeds/disposable.txt", headers });
    assert.equal(answer.headers["content-encoding"], isGzip ? "gzip" : undefined, encoding);
    assert.equal(isGzip ? gunzipSync(answer.rawPayload).toString() : answer.body, TEXT);
  }
  const held = { "if-none-match": '"1a"' };
  const none = await inject(app, { url: "/feeds/disposable.txt", headers: held });
  assert.deepEqual([none.statusCode, none.body], [304, ""]);
  const json = await inject(app, { url: "/feeds/disposable.json", headers: held });
  assert.deepEqual([json.statusCode, json.body, json.headers["etag"]], [200, "{}", 'W/"2b"']);
  const lists = await inject(app, { url: "/feeds/disposable.lists", headers: held });
  assert.deepEqual(
    [lists.statusCode, lists.body, lists.headers["etag"]],
    [200, "tables", 'W/"3c"'],
  );
  assert.equal(lists.headers["content-type"], "application/octet-stream");
  const free = await inject(app, "/feeds/free.txt");
  assert.deepEqual([free.statusCode, free.body], [200, "tables"]);
  assert.equal(free.headers["content-type"], "text/plain; charset=utf-8");
  assert.equal((await inject(app, "/feeds/free.txt?separator=tab")).statusCode, 400);
});

const FORMS: readonly (readonly [query: string, file: keyof typeof FILES | undefined])[] = [
  ["", "txt"],
  ["?wildcards=1", "wildcards"],
  ["?wildcards=true&separator=", "wildcards"],
  ["?wildcards=0", "txt"],
  ["?separator=comma", "comma"],
  ["?separator=comma&wildcards=1", "wildcardsComma"],
  ["?separator=%63omma&other=1", "comma"],
  ["?separator=newline", undefined],
];

test("the text has wildcards and commas as the query asks; its tag is that of the form", async () => {
  const { app, made } = open({ caller: KEY, hasCredits: false, rate: RATE });
  for (const [query, file] of FORMS) {
    const answer = await inject(app, `/feeds/disposable.txt${query}`);
    const { gzip = "", etag } = file === undefined ? {} : FILES[file];
    const refusal = '{"error":"Parameter separator must be comma."}';
    const text = file === undefined ? refusal : gunzipSync(gzip).toString();
    assert.deepEqual([answer.body, answer.headers["etag"]], [text, etag], query);
    assert.equal(answer.statusCode, file === undefined ? 400 : 200, query);
  }
  assert.equal(made(), FORMS.length - 1);
});

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString("base64")}`;

test("the key may be the password of Basic, for any user name", async () => {
  const sent: Credentials[] = [];
  const { app } = open({ caller: KEY, hasCredits: false }, (given) => sent.push(given));
  const cases: readonly (readonly [headers: Record<string, string>, keys: readonly string[]])[] = [
    [{ authorization: basic("gitea:gp_live_1") }, ["gp_live_1"]],
    [{ authorization: basic(":gp_live_1") }, ["gp_live_1"]],
    [{ authorization: basic("jo:") }, [""]],
    [{ authorization: basic("gitea:gp_live_1"), "x-api-key": "gp_live_2" }, ["gp_live_2"]],
    [{ authorization: "Bearer gp_live_3" }, []],
    [{}, []],
  ];
  for (const [headers] of cases) await inject(app, { url: "/feeds/disposable.txt", headers });
  assert.deepEqual(
    sent.map(({ apiKey }) => apiKey),
    cases.map(([, keys]) => keys),
  );
  assert.deepEqual(sent[4]?.authorization, ["Bearer gp_live_3"]);
});

const REFUSED: readonly (readonly [name: string, admitted: Admitted, status: number])[] = [
  ["no key", { caller: callerAt("192.0.2.1"), hasCredits: false }, 401],
  [
    "an invalid key",
    { caller: callerAt("192.0.2.1"), hasCredits: false, refusal: invalidApiKey() },
    401,
  ],
  ["a publishable key", { caller: { ...KEY, isPublishable: true }, hasCredits: false }, 403],
  ["a spent rate", { caller: KEY, hasCredits: false, refusal: rateExceeded(9_000) }, 429],
  [
    "a spent rate with credits",
    { caller: KEY, hasCredits: true, creditsOnly: rateExceeded(9_000) },
    429,
  ],
];

for (const [name, admitted, status] of REFUSED) {
  test(`the list is refused, and not made, for ${name}`, async () => {
    const { app, made } = open(admitted);
    const answer = await inject(app, "/feeds/disposable.txt?separator=newline");
    assert.equal(answer.statusCode, status);
    assert.ok((answer.json() as { error: string }).error.length > 0);
    const asks = status === 401 ? 'Basic realm="Gatepost"' : undefined;
    assert.equal(answer.headers["www-authenticate"], asks);
    assert.equal(answer.headers["retry-after"], status === 429 ? "9" : undefined);
    assert.equal(made(), 0);
  });
}
