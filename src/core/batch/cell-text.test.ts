import { strict as assert } from "node:assert";
import { test } from "node:test";
import { dateFormat, numberText } from "./cell-text.ts";

const numbers: readonly (readonly [value: string, text: string])[] = [
  ["24.690000000000001", "24.69"],
  ["0.30000000000000004", "0.3"],
  ["1E3", "1000"],
  ["-0.1", "-0.1"],
  ["123456789012345678", "123456789012346000"],
  ["", ""],
  ["x", "x"],
];

for (const [value, text] of numbers) {
  test(`the number ${value} shows as ${text}`, () => {
    assert.equal(numberText(value), text);
  });
}

/** 2026-11-28 17:05:09.4 is a Saturday. */
const MOMENT = 46_354.711_914_352;

type Case = readonly [
  id: number,
  code: string | undefined,
  text: string | undefined,
  days?: number,
];

const dates: readonly Case[] = [
  [164, "dd.mm.yyyy", "28.11.2026"],
  [164, "m/d/yy", "11/28/26"],
  [164, "yyyy-mm-dd hh:mm:ss", "2026-11-28 17:05:09"],
  [164, "dddd, mmmm d", "Saturday, November 28"],
  [164, "ddd mmm mmmmm", "Sat Nov N"],
  [164, "h:mm AM/PM", "5:05 PM"],
  [164, "mm:ss.0", "05:09.4"],
  [164, "[h]:mm", "1112513:05"],
  [164, "[Red]yyyy;@", "2026"],
  [164, '[$-409]d" of "mmm', "28 of Nov"],
  [164, "[$-407]d. mmmm", "2026-11-28T17:05:09"],
  [164, "[$-F800]dddd", "2026-11-28T17:05:09"],
  [164, "ggge", undefined],
  [164, "yyyy\\-mm_)", "2026-11"],
  [164, "0.00", undefined],
  [164, "General", undefined],
  [164, '0.0" m"', undefined],
  [14, undefined, "2026-11-28", 46_354],
  [22, undefined, "2026-11-28T17:05:09"],
  [15, undefined, "28-Nov-26"],
  [20, undefined, "12:00", 0.5],
  [46, undefined, "36:00:00", 1.5],
  [0, undefined, undefined],
  [164, "yyyy-mm-dd", "1900-01-01", 1],
  [164, "yyyy-mm-dd", "1900-03-01", 61],
  [164, "yyyy-mm-dd", undefined, 0.5],
  [164, "yyyy-mm-dd", undefined, 1e9],
];

for (const [id, code, text, days = MOMENT] of dates) {
  test(`${String(days)} in the format ${code ?? String(id)} shows as ${text ?? "a number"}`, () => {
    assert.equal(dateFormat(id, code)?.(days), text);
  });
}

test("a workbook may count from 1904", () => {
  assert.equal(dateFormat(14)?.(44_892, true), "2026-11-28");
});
