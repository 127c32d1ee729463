import { strict as assert } from "node:assert";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { BrokenPart, HealthPart } from "../../base/health.ts";
import { appDeps, appWith } from "../../../test/http/http-app.ts";
import { inject } from "../../../test/http/inject.ts";

test("a living process says so without asking anything", async () => {
  const app = appWith({ broken: () => Promise.reject(new Error("down")) });
  const { statusCode, body } = await inject(app, "/healthz");
  assert.deepEqual([statusCode, body], [200, '{"status":"ok"}']);
});

const part = (name: HealthPart, stops: boolean): BrokenPart => ({
  part: name,
  says: `${name} is ill.`,
  toDo: "Mend it.",
  sinceMs: 0,
  stops,
});
const shown = (name: string, stops: boolean): object => ({
  part: name,
  says: `${name} is ill.`,
  to_do: "Mend it.",
  since: "1970-01-01T00:00:00.000Z",
  stops,
});

const readiness: readonly (readonly [
  broken: readonly BrokenPart[],
  here: string,
  status: number,
  body: object,
])[] = [
  [[], "::1", 200, { status: "ok", broken: [] }],
  [[], "192.0.2.1", 200, { status: "ok" }],
  [[part("feeds", false)], "192.0.2.1", 200, { status: "ok" }],
  [[part("feeds", false)], "127.0.0.1", 200, { status: "ok", broken: [shown("feeds", false)] }],
  [[part("dns", true)], "192.0.2.1", 503, { error: "Not ready: dns." }],
  [
    [part("database", true), part("feeds", false), part("dns", true)],
    "127.0.0.1",
    503,
    {
      error: "Not ready: database, dns.",
      broken: [shown("database", true), shown("feeds", false), shown("dns", true)],
    },
  ],
];

for (const [broken, from, status, want] of readiness) {
  test(`readiness is ${String(status)} for ${from} with ${String(broken.length)} broken parts`, async () => {
    const app = appWith({ broken: () => Promise.resolve(broken) });
    const { statusCode, body } = await inject(app, { url: "/readyz", remoteAddress: from });
    assert.deepEqual([statusCode, JSON.parse(body)], [status, want]);
  });
}

const metricsCases = [
  ["this machine may read metrics", undefined, "127.0.0.1", {}, 200],
  ["this machine over IPv6 may read metrics", undefined, "::1", {}, 200],
  ["another machine may not", undefined, "192.0.2.1", {}, 403],
  [
    "a proxy on this machine may not",
    undefined,
    "127.0.0.1",
    { "x-forwarded-for": "192.0.2.1" },
    403,
  ],
  [
    "any forwarding header shows a proxy",
    undefined,
    "127.0.0.1",
    { forwarded: "for=192.0.2.1" },
    403,
  ],
  ["an empty token does not count", "", "192.0.2.1", { authorization: "Bearer " }, 403],
  [
    "the token opens it from anywhere",
    "t0ken",
    "192.0.2.1",
    { authorization: "Bearer t0ken" },
    200,
  ],
  ["the scheme has any case", "t0ken", "192.0.2.1", { authorization: "bearer t0ken" }, 200],
  ["another token does not", "t0ken", "127.0.0.1", { authorization: "Bearer t0kem" }, 401],
  ["a longer token does not", "t0ken", "127.0.0.1", { authorization: "Bearer t0ken2" }, 401],
  ["with a token set, this machine needs it too", "t0ken", "127.0.0.1", {}, 401],
] as const;

for (const [name, token, remoteAddress, headers, status] of metricsCases) {
  test(name, async () => {
    const { settings } = appDeps();
    const app = appWith({
      settings: { ...settings, ...(token === undefined ? {} : { metricsToken: token }) },
    });
    const answer = await inject(app, { url: "/metrics", remoteAddress, headers });
    assert.equal(answer.statusCode, status);
    if (status === 200) assert.equal(answer.body, "figures 1\n");
    else assert.deepEqual(Object.keys(answer.json()), ["error"]);
    assert.equal(answer.headers["www-authenticate"], status === 401 ? "Bearer" : undefined);
  });
}

test("the rendered documentation runs only its own scripts", async () => {
  const docsViewer = fileURLToPath(new URL("../../../docs/", import.meta.url));
  const app = appWith({ docsViewer });
  const { statusCode, headers, body } = await inject(app, "/docs");
  assert.equal(statusCode, 200);
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:/);
  assert.doesNotMatch(
    body,
    /<script>|<style|\son[a-z]+="|https?:\/\//,
    "nothing inline, nothing foreign",
  );
  const files = [...body.matchAll(/(?:src|href)="(\/docs[^"]+)"/g)];
  assert.equal(files.length, 3);
  for (const [, path = ""] of files) {
    assert.equal((await inject(app, path)).statusCode, 200, path);
  }
});

test("/llms.txt links to documents that exist, under the public URL", async () => {
  const app = appWith();
  const { statusCode, headers, body } = await inject(app, "/llms.txt");
  assert.equal(statusCode, 200);
  assert.equal(headers["content-type"], "text/plain; charset=utf-8");
  assert.match(body, /^# Gatepost\n\n> /);
  const links = [...body.matchAll(/\]\(http:\/\/gatepost\.example(\/[^)]*)\)/g)];
  assert.equal(links.length, 2);
  for (const [, path = ""] of links) assert.equal((await inject(app, path)).statusCode, 200, path);
});
