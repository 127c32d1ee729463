import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { TextHmac } from "./text-hmac.ts";

const KEYS: readonly [name: string, key: Uint8Array][] = [
  ["RFC 4231, case 1", Buffer.alloc(20, 0x0b)],
  ["RFC 4231, case 2", Buffer.from("Jefe")],
  ["of 32 octets", Buffer.from(Array.from({ length: 32 }, (_, at) => at * 7))],
  ["of a block", Buffer.alloc(64, 0xff)],
  ["of nothing", Buffer.alloc(0)],
];

const TEXTS = [
  "",
  "Hi There",
  "mailbox 1 jo@b\u00fccher.example",
  "\u{1f600}",
  "\ud800",
  "\0".repeat(64),
];

for (const [name, key] of KEYS) {
  test(`texts have the HMAC of node:crypto under a key ${name}`, () => {
    const hmac = new TextHmac(key);
    const long = [1_023, 1_024, 1_025, 100_000].map((length) => "\u20ac".repeat(length));
    for (const text of [...TEXTS, ...long, ...TEXTS]) {
      assert.deepEqual(
        hmac.of(text),
        createHmac("sha256", key).update(text).digest(),
        text.slice(0, 20),
      );
    }
  });
}

test("a key that is longer than a block is refused", () => {
  assert.throws(() => new TextHmac(Buffer.alloc(65)), RangeError);
});
