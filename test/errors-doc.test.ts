import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  accountDisabled,
  badRequest,
  bodiesFull,
  bodyCutShort,
  bodyTooLarge,
  headersTooLarge,
  INTERNAL_ERROR_MESSAGE,
  invalidJson,
  methodNotAllowed,
  invalidApiKey,
  metricsClosed,
  metricsUnauthorized,
  missingParameter,
  notFound,
  notReady,
  noWebhook,
  requestTimedOut,
  targetTooLong,
  tooManyPings,
  unsupportedMediaType,
  wrongType,
} from "../src/service/refusals.ts";
import { plain, readDocument, tableUnder } from "./docs-tables.ts";

const document = readDocument("docs/errors.md");
const rows = tableUnder(document, "## Refusals").map(([code = "", status, sentence]) =>
  [plain(code), status, sentence].join("|"),
);

const refusals = [
  missingParameter("email"),
  wrongType("email"),
  invalidJson(),
  bodyCutShort(),
  badRequest(),
  metricsUnauthorized(),
  metricsClosed(),
  invalidApiKey(),
  accountDisabled(),
  noWebhook(),
  tooManyPings(10),
  notFound(),
  methodNotAllowed(),
  requestTimedOut(),
  bodyTooLarge(),
  targetTooLong(),
  unsupportedMediaType(),
  headersTooLarge(),
  bodiesFull(),
  notReady(["dns"]),
];

for (const { status, code, message } of refusals) {
  test(`docs/errors.md has ${String(status)} ${code} as it is sent`, () => {
    assert.ok(rows.includes(`${code}|${String(status)}|${message}`));
  });
}

test("docs/errors.md has the message of faults", () => {
  assert.ok(document.includes(`500 \`${INTERNAL_ERROR_MESSAGE}\``));
});
