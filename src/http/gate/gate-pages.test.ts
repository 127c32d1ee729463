import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { appWith } from "../../../test/http/http-app.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";
import { addGatePages } from "./gate-pages.ts";
import { WIDGET } from "./widget.ts";

test("the public keys and the widget are served to every site, the hashed name for good", async (t) => {
  const { tokens } = await gateWorld(t);
  const app = await appWith({
    pages: async (scope): Promise<void> => addGatePages(scope, { tokens }),
  });
  t.after(() => app.close());
  const jwks = await app.inject("/.well-known/jwks.json");
  assert.equal(jwks.headers["cache-control"], "public, max-age=300");
  assert.equal(jwks.headers["access-control-allow-origin"], "*");
  const [key = {}] = jwks.json<{ keys: Record<string, string>[] }>().keys;
  assert.deepEqual(Object.keys(key), ["kty", "crv", "x", "kid", "use", "alg"]);
  for (const path of ["/widget.js", `/widget-${WIDGET.hash}.js`]) {
    const { statusCode, body, headers } = await app.inject(path);
    assert.deepEqual([statusCode, body], [200, WIDGET.source]);
    assert.match(String(headers["content-type"]), /^text\/javascript/);
    assert.equal(/immutable/.test(String(headers["cache-control"])), path !== "/widget.js");
  }
});

test("the widget has at most 6 KB after gzip and needs no inline code", () => {
  assert.ok(gzipSync(WIDGET.source).length <= 6_144);
  assert.doesNotMatch(WIDGET.source, /innerHTML|eval\(|\.style|onclick/);
});
