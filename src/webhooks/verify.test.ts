import { strict as assert } from "node:assert";
import { test } from "node:test";
import { envelope } from "./dispatcher.ts";
import { sign, verifySignature } from "./verify.ts";

const body = new TextEncoder().encode("The quick brown fox jumps over the lazy dog");
/** A known answer of HMAC-SHA256 with the key "key". */
const signature = "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8";

test("a signature is the HMAC-SHA256 of the octets in lower-case hex", () => {
  assert.equal(sign("key", body), signature);
  assert.match(sign("another", body), /^[0-9a-f]{64}$/);
});

test("an empty secret signs nothing", () => {
  assert.throws(() => sign("", body), /empty secret/);
});

const changed = `${signature.slice(0, -1)}9`;
const rows: readonly (readonly [
  name: string,
  header: unknown,
  secret: string | undefined,
  want: boolean,
])[] = [
  ["the right signature", signature, "key", true],
  ["another secret", signature, "kez", false],
  ["an empty secret, though HMAC would take it", sign("x", body), "", false],
  ["an absent secret", signature, undefined, false],
  ["no header", undefined, "key", false],
  ["null", null, "key", false],
  ["an empty header", "", "key", false],
  ["a repeated header", [signature, signature], "key", false],
  ["upper case", signature.toUpperCase(), "key", false],
  ["63 digits", signature.slice(1), "key", false],
  ["65 digits", `${signature}0`, "key", false],
  ["a line feed behind", `${signature}\n`, "key", false],
  ["a blank before", ` ${signature}`, "key", false],
  ["a prefix", `sha256=${signature}`, "key", false],
  ["a letter that is no digit", `g${signature.slice(1)}`, "key", false],
  ["64 other characters", "é".repeat(64), "key", false],
  ["one digit changed", changed, "key", false],
  ["a number", 5, "key", false],
];

for (const [name, header, secret, want] of rows) {
  test(`verifySignature: ${name}`, () => {
    assert.equal(verifySignature(body, header, secret), want);
  });
}

test("an envelope is event, time of dispatch and data, in that order", () => {
  const octets = envelope("test.ping", '{"message":"héllo"}', Date.UTC(2026, 10, 20, 1, 2, 3, 4));
  assert.equal(
    new TextDecoder().decode(octets),
    '{"event":"test.ping","timestamp":"2026-11-20T01:02:03.004Z","data":{"message":"héllo"}}',
  );
});
