import { strict as assert } from "node:assert";
import { before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Compile } from "typebox/compile";
import { appWith } from "../../test/http/http-app.ts";
import { openAdmission } from "../../test/http/open-admission.ts";
import { decideRoute } from "./api/decide.ts";
import { disposablePages } from "./system/disposable-page.ts";
import { ErrorSchema, ResultSchema } from "./schemas.ts";
import { inject } from "../../test/http/inject.ts";

type Json = Readonly<Record<string, unknown>>;

let document: Json = {};
before(async () => {
  const app = appWith();
  const answer = await inject(app, "/openapi.json");
  assert.equal(answer.statusCode, 200);
  document = answer.json();
});

/** Walks a path of names; undefined where it ends. */
const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((part, name) => Reflect.get(Object(part), name), value);

function everything(value: unknown): readonly object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(everything)];
}

test("every reference leads somewhere", () => {
  const references = everything(document).flatMap((part) =>
    "$ref" in part ? [String(part.$ref)] : [],
  );
  assert.ok(references.length > 10);
  for (const reference of new Set(references)) {
    assert.notEqual(at(document, ...reference.slice(2).split("/")), undefined, reference);
  }
});

test("both key headers are described, and none is required", () => {
  assert.deepEqual(document["security"], [{}, { apiKey: [] }, { bearer: [] }]);
  assert.equal(at(document, "components", "securitySchemes", "apiKey", "name"), "X-Api-Key");
});

test("the server is the one that served the document", () => {
  assert.deepEqual(document["servers"], [{ url: "/" }]);
});

test("every operation has an id of its own", () => {
  const ids = Object.values(Object(document["paths"])).flatMap((item) =>
    Object.values(Object(item)).map((operation) => String(at(operation, "operationId"))),
  );
  assert.ok(ids.length >= 16);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[a-z][A-Za-z]+$/);
});

test("the dashboard's routes stand in a document of their own", async () => {
  assert.ok(!Object.keys(Object(document["paths"])).some((path) => path.startsWith("/account/")));
  const operation = { operationId: "getPlans", summary: "s", tags: [], responses: {} };
  const app = appWith({ pagesDocumentation: { "/account/plans": { get: operation } } });
  const { statusCode, body } = await inject(app, "/account/openapi.json");
  assert.equal(statusCode, 200);
  assert.deepEqual(Object.keys(JSON.parse(body).paths), ["/account/plans"]);
});

test("every documented path is served, with every documented method", async () => {
  const file = { gzip: gzipSync(""), etag: 'W/"1"' };
  const published = () => Promise.resolve({ txt: file, json: file });
  const pages = disposablePages({
    published,
    packed: () => Promise.resolve(file),
    admission: openAdmission(),
    trustedProxies: [],
  });
  const app = appWith({ pages: { pages } });
  const operations = Object.entries(Object(document["paths"])).flatMap(([path, item]) =>
    Object.keys(Object(item)).map((method) => [path, method.toUpperCase()] as const),
  );
  assert.ok(operations.length >= 16);
  for (const [path, method] of operations) {
    const url = path
      .replace("{email}", "a@x.example")
      .replace("{domain}", "x.example")
      .replace("{features}", "spf");
    const { statusCode } = await inject(app, { method: method as "GET", url });
    assert.ok([200, 400, 401].includes(statusCode), `${method} ${url} is ${statusCode}`);
  }
});

test("every example of a result is one, and every example of an error", () => {
  const result = Compile(ResultSchema);
  const error = Compile(ErrorSchema);
  const contents = everything(document).filter((part) => "schema" in part);
  let seen = 0;
  for (const content of contents) {
    const name = String(at(content, "schema", "$ref"))
      .split("/")
      .at(-1);
    const examples = Object.values(Object(at(content, "examples"))).map((one) => at(one, "value"));
    for (const example of [...examples, at(content, "example")]) {
      if (example === undefined || (name !== "Result" && name !== "Error")) continue;
      assert.ok((name === "Result" ? result : error).Check(example), JSON.stringify(example));
      seen += 1;
    }
  }
  assert.ok(seen > 30);
});

test("an operation stands there once, and the sign-up gate comes first", async () => {
  const decideOne = () => Promise.reject(new Error("nobody decides"));
  const app = appWith({ routes: [decideRoute(decideOne)] });
  const { paths } = (await inject(app, "/openapi.json")).json<{ paths: object }>();
  assert.equal(Object.keys(paths)[0], "/api/decide");
  const summaries = Object.entries(paths).map(([path, item]) => {
    const { get, post } = item as Record<string, { summary: string } | undefined>;
    return [path, get !== undefined && get.summary === post?.summary];
  });
  assert.deepEqual(
    summaries.filter(([, isTwice]) => isTwice),
    [],
  );
});
