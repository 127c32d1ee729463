import assert from "node:assert/strict";
import { test } from "node:test";
import { verifySignature } from "../../src/main/library.ts";
import { readDocument, tableUnder } from "../guards/docs-tables.ts";
import { CLIENT_CASES } from "./cases.ts";

test("the clients' table of webhooks agrees with the service", () => {
  for (const { name, body, signature, secret, valid } of CLIENT_CASES.webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(verifySignature(octets, signature ?? undefined, secret), valid, name);
  }
});

test("docs/clients.md has the table of statuses", () => {
  const want = CLIENT_CASES.statuses.map(({ status, decision, reason, message = "" }) => [
    status.join(", "),
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
