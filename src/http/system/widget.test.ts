import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { appWith } from "../../../test/http/http-app.ts";
import { inject } from "../../../test/http/inject.ts";
import { gatePages, WIDGET } from "./widget.ts";

test("the widget is served to every site, the hashed name for good, and no public keys", async () => {
  const app = appWith({ pages: { pages: gatePages } });
  assert.equal((await inject(app, "/.well-known/jwks.json")).statusCode, 404);
  for (const path of ["/widget.js", `/widget-${WIDGET.hash}.js`]) {
    const { statusCode, body, headers } = await inject(app, path);
    assert.deepEqual([statusCode, body], [200, WIDGET.source]);
    assert.match(String(headers["content-type"]), /^text\/javascript/);
    assert.equal(/immutable/.test(String(headers["cache-control"])), path !== "/widget.js");
  }
});

test("the widget has at most 6 KB after gzip and needs no inline code", () => {
  assert.ok(gzipSync(WIDGET.source).length <= 6_144);
  assert.doesNotMatch(WIDGET.source, /innerHTML|eval\(|\.style|onclick/);
});
