import { strict as assert } from "node:assert";
import { before, test } from "node:test";
import { appWith } from "../../test/http/http-app.ts";
import { assertDocumented, assertShape } from "../../test/http/documented.ts";
import { inject } from "../../test/http/inject.ts";
import { FEATURES } from "../core/checks/registry.ts";
import { OPERATIONS } from "./operations.ts";
import { ErrorSchema } from "./schemas.ts";

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

const JSON_ANSWERS = OPERATIONS.flatMap(({ id, at, answers }) => {
  const { schema, example } = answers["application/json"] ?? {};
  return schema === undefined ? [] : [{ id, at, schema, example }];
});

for (const { id, at: place, schema, example } of JSON_ANSWERS) {
  test(`the example of ${id} is an answer of it, and with one more key anywhere it is none`, () => {
    assertShape(example, [schema], id);
    if (id === "getOpenApi") return;
    for (const one of withOneMore(example)) {
      assert.throws(() => assertShape(one, [schema], id), /is not documented/);
      if (!place.includes(" /api/")) continue;
      const [method = "", url = ""] = place.replaceAll(/\{\w+\}/g, "x").split(" ");
      const answer = { method, url, status: 200, type: "application/json" };
      assert.throws(() => assertDocumented({ ...answer, text: JSON.stringify(one) }), /is not/);
    }
  });
}

/** Copies of a value, each with another key in one of its objects; maps of results take any name. */
function withOneMore(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, place) => withOneMore(item).map((one) => value.with(place, one)));
  }
  const inside = Object.entries(value)
    .filter(([name]) => name !== "licences")
    .flatMap(([name, item]) => withOneMore(item).map((one) => ({ ...value, [name]: one })));
  return [{ ...value, added: 1 }, ...inside];
}

test("every refusal in the document is one that clients can read", () => {
  const errors = everything(document).filter((part) =>
    String(at(part, "schema", "$ref")).endsWith("/Error"),
  );
  assert.ok(errors.length > 100);
  for (const error of errors) assertShape(at(error, "example"), [ErrorSchema], "a refusal");
});

test("generators of clients find one tag, one kind of body and an example in every operation", () => {
  const named = everything(document);
  assert.ok(!named.some((part) => "const" in part || "oneOf" in part || "anyOf" in part));
  for (const item of Object.values(Object(document["paths"]))) {
    for (const operation of Object.values(Object(item)) as readonly Json[]) {
      const id = String(operation["operationId"]);
      assert.equal((operation["tags"] as readonly string[]).length, 1, id);
      const bodies = Object.keys(Object(at(operation, "requestBody", "content")));
      assert.ok(bodies.length <= 1, id);
      for (const content of Object.values(Object(at(operation, "responses", "200", "content")))) {
        const isFile = at(content, "schema", "format") === "binary";
        assert.ok(isFile || at(content, "example") !== undefined, id);
      }
    }
  }
});

test("the sign-up gate comes first", () => {
  assert.equal(Object.keys(Object(document["paths"]))[0], "/api/decide");
});

const RATES = ["X-RateLimit-Limit", "X-RateLimit-Remaining"];
const HEADERS = [
  ["/feeds/disposable.txt", "get", "200", ["ETag"]],
  ["/api/email", "post", "200", RATES],
  ["/api/email", "post", "429", [...RATES, "Gatepost-Error", "Retry-After"]],
  ["/api/bulk", "post", "429", [...RATES, "Gatepost-Error", "Retry-After"]],
] as const;

for (const [path, method, status, names] of HEADERS) {
  test(`${status} of ${path} names its headers`, () => {
    const headers = at(document, "paths", path, method, "responses", status, "headers");
    assert.deepEqual(Object.keys(Object(headers)), [...names]);
  });
}

for (const kind of ["email", "domain"]) {
  test(`premium features of a path are named as suffixes of /api/${kind}`, () => {
    const path = `/api/${kind}/{${kind}}/{features}`;
    const parameters = at(document, "paths", path, "get", "parameters") as readonly Json[];
    const features = parameters.find(({ name }) => name === "features");
    assert.deepEqual(at(features, "schema", "enum"), FEATURES);
  });
}
