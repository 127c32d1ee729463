import assert from "node:assert/strict";
import { test } from "node:test";
import { verifySignature } from "../../src/main/library.ts";
import { readDocument, tableUnder } from "../guards/docs-tables.ts";
import { appWith } from "../http/http-app.ts";
import { inject } from "../http/inject.ts";
import { CLIENT_CASES } from "./cases.ts";

test("the clients' table of webhooks agrees with the service", () => {
  for (const { name, body, signature, secret, valid } of CLIENT_CASES.webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(verifySignature(octets, signature ?? undefined, secret), valid, name);
  }
});

test("docs/clients.md has the table of statuses", () => {
  const want = CLIENT_CASES.statuses.map(({ status, by, decision, reason, message = "" }) => [
    status.join(", "),
    by,
    decision,
    reason,
    message,
  ]);
  const rows = tableUnder(readDocument("docs/clients.md"), "## Without an answer").slice(
    0,
    want.length,
  );
  assert.deepEqual(
    rows.map((row) => row.map((cell) => cell.replaceAll("`", ""))),
    want,
  );
});

/** Method, slow body, long URL, encoding, large head: what only a program gets wrong counts as 500. */
const OF_BROKEN_REQUESTS = ["405", "408", "414", "415", "431"];

test("the table has each status that /api/decide may answer, and who provokes it is no visitor", async () => {
  const { body } = await inject(appWith(), "/openapi.json");
  const { paths } = JSON.parse(body) as {
    readonly paths: Readonly<Record<string, { readonly post: { readonly responses: object } }>>;
  };
  const answers = Object.keys(paths["/api/decide"]?.post.responses ?? {});
  const refused = answers.filter((status) => status !== "200");
  assert.ok(refused.length >= 6, refused.join());
  const known = new Set(CLIENT_CASES.statuses.flatMap(({ status }) => status.map(String)));
  const others = refused.filter((status) => !known.has(status));
  assert.deepEqual(others, OF_BROKEN_REQUESTS);
  for (const { by } of CLIENT_CASES.statuses)
    assert.match(by, /^(the operator|the programmer|a caller)\b(?!.*visitor)/);
});
