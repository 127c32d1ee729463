import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Pieces } from "./pieces.ts";

test("many small pieces are few buffers with the same octets", () => {
  const pieces = new Pieces();
  const octets = Buffer.from(Array.from({ length: 5_000 }, (_, at) => at % 251));
  for (let at = 0; at < octets.length; at += 1) pieces.add(octets.subarray(at, at + 1));
  const all = pieces.all();
  assert.deepEqual(Buffer.concat(all), octets);
  assert.ok(all.length < 1_100, `${String(all.length)} buffers`);
});

test("cleared, it holds nothing", () => {
  const pieces = new Pieces();
  for (let at = 0; at < 2_000; at += 1) pieces.add(Buffer.of(at % 256));
  pieces.clear();
  assert.deepEqual(pieces.all(), []);
});
