import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import type { Ids } from "../base/ids.ts";
import { hashApiKey, isApiKey, makeApiKey, shownParts } from "./key-text.ts";

const randomIds: Ids = { bytes: (count) => randomBytes(count), hex32: () => "" };
const KEY = makeApiKey({ bytes: (count) => new Uint8Array(count).fill(17), hex32: () => "" });

test("a key is gp_live_, 34 random characters and their CRC-32 in six base 62 digits", () => {
  assert.match(KEY, /^gp_live_H{34}[0-9A-Za-z]{6}$/);
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const value = Array.from(KEY.slice(-6)).reduce(
    (sum, digit) => sum * 62 + digits.indexOf(digit),
    0,
  );
  assert.equal(value, crc32("H".repeat(34)));
});

test("every key that is made is one, and no two are the same", () => {
  const keys = new Set(Array.from({ length: 500 }, () => makeApiKey(randomIds)));
  assert.equal(keys.size, 500);
  for (const key of keys) assert.equal(isApiKey(key), true);
});

test("bytes that would favour some characters are thrown away", () => {
  let next = 240;
  const ids: Ids = {
    bytes: (count) =>
      Uint8Array.from({ length: count }, () => (next = next === 255 ? 240 : next + 1)),
    hex32: () => "",
  };
  // 241 to 247 and 240 remain of each round: 62 * 3 = 186, so the characters are those of 54 to 61.
  assert.match(makeApiKey(ids), /^gp_live_[s-z]{34}/);
});

const changed = (at: number, to: string): string => KEY.slice(0, at) + to + KEY.slice(at + 1);

for (const [name, text] of [
  ["an empty text", ""],
  ["the prefix alone", "gp_live_"],
  ["a key that is one character short", KEY.slice(0, -1)],
  ["a key that is one character long", `${KEY}0`],
  ["a key with one random character changed", changed(20, "J")],
  ["a key with one digit of the checksum changed", changed(47, KEY.endsWith("0") ? "1" : "0")],
  ["a key with two characters swapped in case", changed(10, "h")],
  ["another service's key", `sk_live_${KEY.slice(8)}`],
  ["a prefix in capitals", `GP_LIVE_${KEY.slice(8)}`],
  ["a character that looks like one of ours", changed(15, "\u0397")],
  ["a line feed for the last character", `${KEY.slice(0, -1)}\n`],
  ["a text of 80,000 characters", "gp_live_".padEnd(80_000, "a")],
  ["two keys", `${KEY}, ${KEY}`],
] as const) {
  test(`${name} is not a key`, () => {
    assert.equal(isApiKey(text), false);
  });
}

test("what is stored is the SHA-256 of the whole key, what is shown are its ends", () => {
  assert.equal(hashApiKey(KEY), createHash("sha256").update(KEY).digest("hex"));
  assert.deepEqual(shownParts(KEY), { prefix: "gp_live_HHHH", last_four: KEY.slice(-4) });
});
