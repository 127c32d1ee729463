import { strict as assert } from "node:assert";
import { test } from "node:test";
import { columnLetters, columnOf, MovedRows } from "./moved-rows.ts";

/** Rows 3, 4 and 7 are taken out. */
const moved = new MovedRows([3, 4, 7]);

const rows: readonly (readonly [row: number, at: number])[] = [
  [1, 1],
  [2, 2],
  [5, 3],
  [6, 4],
  [8, 5],
  [100, 97],
];

for (const [row, at] of rows) {
  test(`row ${String(row)} stands at ${String(at)}`, () => {
    assert.deepEqual([moved.at(row), moved.has(row)], [at, false]);
  });
}

const ranges: readonly (readonly [before: string, after: string | undefined])[] = [
  ["A1", "A1"],
  ["A3", undefined],
  ["A3:B4", undefined],
  ["A1:C8", "A1:C5"],
  ["A3:C8", "A3:C5"],
  ["A1:C7", "A1:C4"],
  ["A5:A5", "A3:A3"],
  ["$A$1:C$8", "$A$1:C$5"],
  ["A:C", "A:C"],
];

for (const [before, after] of ranges) {
  test(`what is left of ${before} is ${after ?? "nothing"}`, () => {
    assert.equal(moved.range(before), after);
  });
}

const formulas: readonly (readonly [before: string, after: string | undefined])[] = [
  ["It's!B5+B5", "It's!B5+B5"],
  ["'It''s'!B5+B5", "'It''s'!B3+B5"],
  ["SUM('it''s'!$B$1:$B$8)*'It''s'!A:A", "SUM('it''s'!$B$1:$B$5)*'It''s'!A:A"],
  ["'It''s'!B5+'It''s'!B3", undefined],
  ["'Its'!B5&\"'It''s'!\"", "'Its'!B5&\"'It''s'!\""],
];

for (const [before, after] of formulas) {
  test(`the formula ${before} becomes ${after ?? "its value"}`, () => {
    assert.equal(moved.formula(before, "It's"), after);
  });
}

test("columns have their names", () => {
  for (const [name, column] of [
    ["A", 0],
    ["Z", 25],
    ["AA", 26],
    ["XFD", 16_383],
  ] as const) {
    assert.equal(columnOf(`${name}12`), column);
    assert.equal(columnLetters(column), name);
  }
});
