import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Pieces } from "./pieces.ts";

const octets = Buffer.from(Array.from({ length: 20_000 }, (_, at) => at % 251));

/** Name, size of the first block, sizes of the pieces in turns, and those of the blocks. */
const cases: readonly (readonly [
  string,
  number | undefined,
  readonly number[],
  readonly number[],
])[] = [
  ["octets", undefined, [1], [4_096, 8_192, 7_712]],
  ["pieces that no block has room for", undefined, [15_000], [4_096, 8_192, 7_712]],
  ["pieces of all sizes", undefined, [1, 5_000, 0, 300], [4_096, 8_192, 7_712]],
  ["a body of known length", 20_000, [16_384], [20_000]],
  ["a body that is longer than it was said to be", 100, [16_384], [100, 4_096, 8_192, 7_612]],
];

for (const [name, first, sizes, blocks] of cases) {
  test(`pieces are copied into few blocks: ${name}`, () => {
    const pieces = new Pieces(first);
    for (let [at, turn] = [0, 0]; at < octets.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      pieces.add(octets.subarray(at, at + size));
      at += size;
    }
    const all = pieces.all();
    assert.deepEqual(Buffer.concat(all), octets);
    assert.deepEqual(
      all.map(({ length }) => length),
      blocks,
    );
  });
}

test("blocks grow up to 1 MiB", () => {
  const pieces = new Pieces();
  for (let at = 0; at < 500; at += 1) pieces.add(octets);
  const sizes = pieces.all().map(({ length }) => length);
  assert.equal(Math.max(...sizes), 1_048_576);
  assert.ok(sizes.length < 20, `${String(sizes.length)} blocks`);
});

test("cleared or new, it holds nothing", () => {
  const pieces = new Pieces();
  assert.deepEqual(pieces.all(), []);
  pieces.add(octets);
  pieces.clear();
  assert.deepEqual(pieces.all(), []);
});
