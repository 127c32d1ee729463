import { strict as assert } from "node:assert";
import { test } from "node:test";
import { daysBefore, stepsOf } from "../../src/dashboard/words/steps.ts";

const dates = (length: number): readonly string[] =>
  Array.from({ length }, (_, at) => new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10));

test("up to 90 days are a bar each", () => {
  const { names, isWeekly, sums } = stepsOf(dates(90));
  assert.deepEqual([names.length, isWeekly], [90, false]);
  assert.deepEqual(sums([1, 2]), [1, 2]);
});

test("more days are weeks that add up, of which the last ends today", () => {
  const { names, isWeekly, sums } = stepsOf(dates(400));
  assert.equal(isWeekly, true);
  assert.equal(names.length, 58);
  const bars = sums(Array.from({ length: 400 }, () => 1));
  assert.deepEqual([bars[0], bars.at(-1)], [1, 7]);
  assert.equal(
    bars.reduce((all, bar) => all + bar, 0),
    400,
  );
});

const days = (...used: readonly number[]) =>
  dates(5).map((date, at) => ({ date, isUsed: used.includes(at) }));

const starts = [
  ["an account of today has one day", "2026-01-05", days(4), 4],
  ["an older account has all days, used or not", "2025-06-01", days(4), 0],
  ["use before the account was made is shown", "2026-01-05", days(1, 4), 1],
  ["no account leaves none out", "", days(), 0],
  ["an account that is made after the last day leaves none out", "2026-01-06", days(), 0],
] as const;

for (const [name, created, known, want] of starts) {
  test(`a chart begins with the account: ${name}`, () => {
    assert.equal(daysBefore(created, known), want);
  });
}
