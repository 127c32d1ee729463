import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as refusals from "../../src/base/refusals.ts";
import { plain, readDocument, tableUnder } from "./docs-tables.ts";

const document = readDocument("docs/errors.md");
const NOON_MS = Date.UTC(2026, 10, 20, 12);

type Maker = Exclude<
  {
    [K in keyof typeof refusals]: (typeof refusals)[K] extends Function ? K : never;
  }[keyof typeof refusals],
  "Refusal" | "StacklessError"
>;

/** What the page shows of each refusal: the sentence, or in brackets its content if it varies. */
const SHOWN: Readonly<Record<Maker, refusals.Refusal>> = {
  adminTierKept: refusals.adminTierKept(),
  noSuchPolicy: refusals.noSuchPolicy(),
  badParameter: refusals.badParameter("deadline_ms", "a whole number from 50 to 5000"),
  publishableKeyElsewhere: refusals.publishableKeyElsewhere(),
  originNotAllowed: refusals.originNotAllowed(),
  policyNotAllowed: refusals.policyNotAllowed(),
  badPolicy: refusals.badPolicy(["(each mistake with its path)"]),
  missingParameter: refusals.missingParameter("email"),
  wrongType: refusals.wrongType("email"),
  badRequest: refusals.badRequest(),
  badHost: refusals.badHost(),
  unsupportedTransfer: refusals.unsupportedTransfer(),
  invalidJson: refusals.invalidJson(),
  bodyCutShort: refusals.bodyCutShort(),
  notFound: refusals.notFound(),
  nulInText: refusals.nulInText(),
  setUpOpen: refusals.setUpOpen(),
  methodNotAllowed: refusals.methodNotAllowed(),
  requestTimedOut: refusals.requestTimedOut(),
  bodyTooLarge: refusals.bodyTooLarge(),
  decideBodyTooLarge: refusals.decideBodyTooLarge(),
  hookPayloadTooLarge: refusals.hookPayloadTooLarge(),
  targetTooLong: refusals.targetTooLong(),
  unsupportedMediaType: refusals.unsupportedMediaType(),
  unsupportedEncoding: refusals.unsupportedEncoding(),
  headersTooLarge: refusals.headersTooLarge(),
  tooMuchAtOnce: refusals.tooMuchAtOnce(),
  serviceFull: refusals.serviceFull(),
  diskFull: refusals.diskFull(),
  storeUnavailable: refusals.storeUnavailable(),
  notReady: refusals.notReady(["dns"]),
  metricsUnauthorized: refusals.metricsUnauthorized(),
  metricsClosed: refusals.metricsClosed(),
  hostNotAllowed: refusals.hostNotAllowed(),
  invalidApiKey: refusals.invalidApiKey(),
  accountDisabled: refusals.accountDisabled(),
  rateExceeded: refusals.rateExceeded(17_000),
  quotaExceeded: refusals.quotaExceeded("day", NOON_MS),
  webhookUrlRefused: refusals.webhookUrlRefused("(says what is wrong with the URL)"),
  unknownWebhookEvent: refusals.unknownWebhookEvent("x", ["test.ping", "bulk.completed"]),
  noWebhook: refusals.noWebhook(),
  tooManyPings: refusals.tooManyPings(10),
  bulkTooLarge: refusals.bulkTooLarge(),
  uploadTooLarge: refusals.uploadTooLarge(20_000_000, undefined),
  uploadTooLong: refusals.uploadTooLong(1_000_000),
  tooManyEntries: refusals.tooManyEntries(10_000, 10_001),
  jobRunning: refusals.jobRunning(),
  bulkCooldown: refusals.bulkCooldown(17),
  retryInFlight: refusals.retryInFlight(1),
  retryOtherBody: refusals.retryOtherBody(),
  hookUnauthorized: refusals.hookUnauthorized("(says what is wrong with the signature)"),
  sessionNotFound: refusals.sessionNotFound(),
  badIdempotencyKey: refusals.badIdempotencyKey(),
  badUpload: refusals.badUpload("(says what and where)"),
  notMultipart: refusals.notMultipart(),
  tooManyStreams: refusals.tooManyStreams(4),
  notSignedIn: refusals.notSignedIn(),
  wrongPassword: refusals.wrongPassword(),
  wrongCurrentPassword: refusals.wrongCurrentPassword(),
  adminsOnly: refusals.adminsOnly(),
  foreignOrigin: refusals.foreignOrigin(),
  tooManyAttempts: refusals.tooManyAttempts(17_000),
  setUpLinkInvalid: refusals.setUpLinkInvalid("used"),
  signUpClosed: refusals.signUpClosed(),
  signUpsSpent: refusals.signUpsSpent(3),
  badField: refusals.badField("(says which and what would be right)"),
  notNow: refusals.notNow("(says what stands in the way)"),
  apiKeyRequired: refusals.apiKeyRequired(),
};

test("docs/errors.md lists every refusal with its exact text, by status", () => {
  const rows = tableUnder(document, "## Refusals").map(([code = "", status = "", sentence = ""]) =>
    [status, plain(code.replace(/^<a id="\w+"><\/a>/, "")), sentence].join(" | "),
  );
  const sent = Object.values(SHOWN).map(({ code, status, message }) =>
    [String(status), code, message].join(" | "),
  );
  assert.deepEqual([...rows].sort(), sent.sort());
  const statuses = rows.map((row) => row.slice(0, 3));
  assert.deepEqual(statuses, [...statuses].sort(), "by status");
});

test("two refusals never share a code or a sentence", () => {
  const all = Object.values(SHOWN);
  assert.equal(new Set(all.map(({ code }) => code)).size, all.length);
  assert.equal(new Set(all.map(({ message }) => message)).size, all.length);
});

test("every refusal has an anchor, and leads to what the reader can do", () => {
  for (const [code = "", , , , remedy = ""] of tableUnder(document, "## Refusals")) {
    const [, anchor = "", name = ""] = /^<a id="(\w+)"><\/a>`(\w+)`$/.exec(code) ?? [];
    assert.ok(name !== "" && anchor === name, code);
    assert.match(remedy, /^\[[\w -]+\]\(operations\/troubleshooting\.md#[\w-]+\)$/, name);
  }
});

test("docs/errors.md has the message of faults", () => {
  assert.ok(document.includes(`500 \`${refusals.INTERNAL_ERROR_MESSAGE}\``));
});
