import { strict as assert } from "node:assert";
import { test } from "node:test";
import { bulkServer } from "../../test/bulk/bulk-http.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

test("/openapi.json names every bulk path, and every reference in it leads somewhere", async (t) => {
  const server = await bulkServer(t);
  const { body } = await server.ask("/openapi.json");
  const document = JSON.parse(body) as Document;
  const bulk = Object.keys(document.paths).filter((path) => /entries|view|upload/.test(path));
  assert.deepEqual(bulk.sort(), [
    "/api/bulk/upload",
    "/api/domain/{entries}/bulk",
    "/api/domain/{entries}/mass",
    "/api/email/{entries}/bulk",
    "/api/email/{entries}/mass",
    "/api/view/{session}",
    "/api/view/{session}/csv",
    "/api/view/{session}/events",
    "/api/view/{session}/json",
  ]);
  const references = [...body.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? "");
  assert.ok(references.length > 20);
  for (const reference of new Set(references)) {
    const found = reference
      .split("/")
      .reduce<unknown>((at, name) => Reflect.get(Object(at), name) as unknown, document);
    assert.equal(typeof found, "object", reference);
  }
});
