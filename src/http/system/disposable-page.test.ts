import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { appWith } from "../../../test/http/http-app.ts";
import { callerAt, openAdmission } from "../../../test/http/open-admission.ts";
import type { Admission, Entrance } from "../../accounts/admission/admission.ts";
import { invalidApiKey, rateExceeded } from "../../base/refusals.ts";
import { disposablePages } from "./disposable-page.ts";
import { inject } from "../../../test/http/inject.ts";

const TEXT = "# remark\na.example\nb.example\n";
const FILES = {
  txt: { gzip: gzipSync(TEXT), etag: 'W/"1a"' },
  json: { gzip: gzipSync("{}"), etag: 'W/"2b"' },
};

const PACKED = { gzip: gzipSync("tables"), etag: 'W/"3c"' };

const KEY = { ...callerAt("192.0.2.1", "free"), keyId: "k1" };
const RATE = { limit: 60, remaining: 59 };

function open(entrance: Entrance) {
  let made = 0;
  const admission: Admission = { ...openAdmission("free"), enter: () => entrance };
  const published = () => {
    made += 1;
    return Promise.resolve(FILES);
  };
  const packed = () => Promise.resolve(PACKED);
  const deps = { published, packed, admission, trustedProxies: [] };
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
});

const REFUSED: readonly (readonly [name: string, entrance: Entrance, status: number])[] = [
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

for (const [name, entrance, status] of REFUSED) {
  test(`the list is refused, and not made, for ${name}`, async () => {
    const { app, made } = open(entrance);
    const answer = await inject(app, "/feeds/disposable.json");
    assert.equal(answer.statusCode, status);
    assert.ok((answer.json() as { error: string }).error.length > 0);
    assert.equal(answer.headers["retry-after"], status === 429 ? "9" : undefined);
    assert.equal(made(), 0);
  });
}
