import { strict as assert } from "node:assert";
import { test } from "node:test";
import { columnName, columnOf, type Distance, MovedRows } from "./moved-rows.ts";

/** Rows 3, 4 and 7 of the sheet "My list" are taken out. */
const moved = new MovedRows([3, 4, 7], "My list");

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
    assert.deepEqual([moved.at(row), moved.before(at), moved.has(row)], [at, row, false]);
  });
}

const ranges: readonly (readonly [before: string, after: string | undefined])[] = [
  ["A1", "A1"],
  ["A3", undefined],
  ["A3:B4", undefined],
  ["A1:C8", "A1:C5"],
  ["A3:C8", "A3:C5"],
  ["A1:C7", "A1:C4"],
  ["A4 A8 B7", "A5"],
  ["A:C", "A:C"],
  ["5:8", "3:5"],
];

for (const [before, after] of ranges) {
  test(`what is left of ${before} is ${after ?? "nothing"}`, () => {
    assert.equal(moved.ranges(before), after);
  });
}

type Formula = readonly [
  before: string,
  after: string | undefined,
  isHere?: boolean,
  by?: Distance,
];

const formulas: readonly Formula[] = [
  ["SUM(B2:B8)", "SUM(B2:B5)"],
  ["$A$5&A6", "$A$3&A4"],
  ["A3*2", undefined],
  ['"A8"&A8', '"A8"&A5'],
  ["LOG10(A8)+A8", "LOG10(A5)+A5"],
  ["Sheet2!A8+A8", "Sheet2!A8+A5"],
  ["'My list'!A8+A8", "'My list'!A5+A8", false],
  ["'my LIST'!$A$2:$C$8", "'my LIST'!$A$2:$C$5", false],
  ["'[1]My list'!A8", "'[1]My list'!A8", false],
  ["[1]List!A8", "[1]List!A8"],
  ["Jan:Dec!A8", undefined],
  ["A8:INDEX(B1:B2,1)", undefined],
  ["Table1[[#This Row],[A8]]+A8", "Table1[[#This Row],[A8]]+A5"],
  ["SUM(5:8)+SUM($5:$8)", "SUM(3:5)+SUM($3:$5)"],
  ["SUM(A:A)", "SUM(A:A)"],
  ["A2*$B$2+C$2", "A4*$B$2+C$2", true, [4, 0]],
  ["A2+$A2", "C5+$A5", true, [6, 2]],
  ["SUM(A:A)", "SUM(B:B)", true, [0, 1]],
  ["A1", undefined, true, [-1, 0]],
  ["Tax2024x+rate_8", "Tax2024x+rate_8"],
  ["a8:b8", "a5:b5"],
  ["#REF!+A8", "#REF!+A5"],
  ["'unclosed", "'unclosed"],
  [`"${"x".repeat(9_000)}"`, undefined],
];

for (const [before, after, isHere = true, by] of formulas) {
  test(`the formula ${before.slice(0, 40)} becomes ${after ?? "its value"}`, () => {
    assert.equal(moved.formula(before, isHere, by), after);
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
    assert.equal(columnName(column), name);
  }
});
