import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  badRequest,
  bodiesFull,
  bodyCutShort,
  bodyTooLarge,
  headersTooLarge,
  INTERNAL_ERROR_MESSAGE,
  invalidJson,
  methodNotAllowed,
  metricsClosed,
  missingParameter,
  notFound,
  notReady,
  requestTimedOut,
  targetTooLong,
  unsupportedMediaType,
  wrongType,
} from "../src/service/refusals.ts";

const rows = readFileSync("docs/errors.md", "utf8")
  .split("\n")
  .filter((line) => /^\| \d{3} /.test(line))
  .map((line) =>
    line
      .split("|")
      .slice(1, 4)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );

const refusals = [
  missingParameter("email"),
  wrongType("email"),
  invalidJson(),
  bodyCutShort(),
  badRequest(),
  metricsClosed(401),
  metricsClosed(403),
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
  test(`docs/errors.md has ${status} ${code} as it is sent`, () => {
    assert.ok(rows.some((row) => row.join("|") === `${status}|${code}|${message}`));
  });
}

test("docs/errors.md has the message of faults", () => {
  assert.ok(rows.some((row) => row.join("|") === `500||${INTERNAL_ERROR_MESSAGE}`));
});
