import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { attachNameTable, NameTableBuilder } from "./shared-datasets.ts";

function tableOf(entries: Iterable<readonly [name: string, bit: number]>) {
  const builder = new NameTableBuilder();
  for (const [name, bit] of entries) builder.add(name, bit);
  return attachNameTable(builder.finish());
}

test("name table: bits of one name add up, and no other name has any", () => {
  const table = tableOf([
    ["a.example", 0],
    ["b.example", 1],
    ["a.example", 15],
    ["a.example", 0],
  ]);
  assert.equal(table.sourcesOf("a.example"), 0x8001);
  assert.equal(table.sourcesOf("b.example"), 2);
  for (const name of ["", "a", "a.exampl", "a.example.", "A.example", "c.example"]) {
    assert.equal(table.sourcesOf(name), 0, name);
  }
});

test("name table: an empty one knows nothing", () => {
  assert.equal(tableOf([]).sourcesOf("a.example"), 0);
});

test("name table: names of 1 and of 255 characters fit, others are a fault", () => {
  const long = "a".repeat(255);
  assert.equal(
    tableOf([
      [long, 3],
      ["b", 2],
    ]).sourcesOf(long),
    8,
  );
  for (const name of ["", `${long}a`, "bücher.example", "a b", "a\u0000"]) {
    assert.throws(() => tableOf([[name, 0]]), /^Error: name table: /);
  }
});

test("name table: questions outside ASCII or far too long have no answer", () => {
  const table = tableOf([["a".repeat(44), 0]]);
  for (const name of ["a".repeat(300), `${"a".repeat(43)}\u0161`, "\u0161", "\u{1f600}"]) {
    assert.equal(table.sourcesOf(name), 0);
  }
});

test("name table: agrees with a map while it grows over 40,000 names", () => {
  const expected = new Map<string, number>();
  const builder = new NameTableBuilder();
  for (let index = 0; index < 60_000; index += 1) {
    const name = `n${String(index % 40_000)}.example`;
    const bit = index % 7;
    builder.add(name, bit);
    expected.set(name, (expected.get(name) ?? 0) | (1 << bit));
  }
  const table = attachNameTable(builder.finish());
  for (const [name, bits] of expected) assert.equal(table.sourcesOf(name), bits);
  for (let index = 40_000; index < 80_000; index += 1) {
    assert.equal(table.sourcesOf(`n${String(index)}.example`), 0);
  }
});

test("name table: agrees with a map for any names", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b", ".", "-"), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.nat(15))), name, (entries, asked) => {
      const expected = entries.reduce(
        (bits, [held, bit]) => bits | (held === asked ? 1 << bit : 0),
        0,
      );
      assert.equal(tableOf(entries).sourcesOf(asked), expected);
    }),
    { numRuns: 5_000 },
  );
});
