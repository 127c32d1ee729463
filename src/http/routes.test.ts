import { strict as assert } from "node:assert";
import { test } from "node:test";
import { appDeps } from "../../test/http/http-app.ts";
import { inject } from "../../test/http/inject.ts";
import { sessionCookie } from "./account/guard.ts";
import { buildApp } from "./app.ts";
import type { Page } from "./routes.ts";

const hook: Page = {
  method: "POST",
  path: "/hooks/:id",
  handle: ({ id }) => ({ type: "text/plain", body: id }),
};

const appAt = (publicUrl: string) =>
  buildApp(
    appDeps({
      settings: { ...appDeps().settings, publicUrl: () => publicUrl },
      pages: {
        pages: [hook, { method: "GET", path: "/", handle: () => ({ body: "front" }) }],
      },
    }),
  );

const below = [
  ["GET", "/api/email/ada@x.example", 200],
  ["GET", "/api/email/ada@x.example?features=spf", 200],
  ["POST", "/hooks/abc", 200],
  ["GET", "/healthz", 200],
  ["GET", "/", 200],
  ["GET", "/docs", 200],
  ["GET", "/nothing", 404],
  ["GET", "/api/nothing", 404],
] as const;

for (const prefix of ["", "/gatepost"]) {
  test(`below the path of the public URL, ${prefix === "" ? "stripped" : "passed on"} by the proxy`, async () => {
    const app = appAt("https://h.example/gatepost");
    for (const [method, path, status] of below) {
      const { statusCode } = await inject(app, { method, url: prefix + path });
      assert.equal(statusCode, status, `${method} ${prefix}${path}`);
    }
    assert.equal((await inject(app, { method: "POST", url: `${prefix}/hooks/abc` })).body, "abc");
  });
}

test("the public URL's path itself is the front page, and another that begins like it is not", async () => {
  const app = appAt("https://h.example/gatepost");
  assert.equal((await inject(app, "/gatepost")).body, "front");
  assert.equal((await inject(app, "/gatepost?x=1")).body, "front");
  assert.equal((await inject(app, "/gatepostx/healthz")).statusCode, 404);
});

test("documents and cookies name the path", async () => {
  const app = appAt("https://h.example/gatepost");
  const document = (await inject(app, "/openapi.json")).json<{ servers: unknown }>();
  assert.deepEqual(document.servers, [{ url: "/gatepost" }]);
  const { body } = await inject(app, "/docs");
  assert.match(body, /src="\/gatepost\/docs\/static\//);
  assert.doesNotMatch(body, /"\/docs/);
  const start = await inject(app, "/docs/static/start.js");
  assert.match(start.body, /url: "\/gatepost\/openapi.json"/);
  const cookie = sessionCookie("https://h.example/gatepost").write("token");
  assert.match(cookie, /^__Secure-gatepost_session=token; .*Path=\/gatepost;/);
  assert.match(sessionCookie("https://h.example").write("token"), /^__Host-.*Path=\/;/);
});

const answers = [
  ["HEAD", "/healthz", 200, undefined],
  ["HEAD", "/docs", 200, undefined],
  ["POST", "/healthz", 405, "GET, HEAD"],
  ["PUT", "/hooks/abc", 405, "POST"],
  ["GET", "/hooks/abc", 405, "POST"],
  ["POST", `/hooks/${"a".repeat(101)}`, 404, undefined],
  ["POST", "/hooks/a/b", 404, undefined],
  ["POST", "/hooks/", 404, undefined],
  ["OPTIONS", "/nothing", 404, undefined],
] as const;

for (const [method, url, status, allow] of answers) {
  test(`${method} ${url.slice(0, 20)} is ${String(status)}`, async () => {
    const { statusCode, headers, body } = await inject(appAt("http://h.example"), { method, url });
    assert.equal(statusCode, status);
    assert.equal(headers["allow"], allow);
    if (method === "HEAD") assert.equal(body, "");
    else assert.deepEqual(Object.keys(JSON.parse(body)), ["error"]);
  });
}

test("an id is decoded, and a fault of a page is a 500", async () => {
  const failing: Page = {
    method: "GET",
    path: "/failing",
    handle: () => {
      throw new Error("x");
    },
  };
  const app = buildApp(appDeps({ pages: { pages: [hook, failing] } }));
  assert.equal((await inject(app, { method: "POST", url: "/hooks/a%2Fb%20" })).body, "a/b ");
  const { statusCode, body } = await inject(app, "/failing");
  assert.deepEqual([statusCode, JSON.parse(body)], [500, { error: "Internal error." }]);
});
