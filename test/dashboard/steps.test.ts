import { strict as assert } from "node:assert";
import { test } from "node:test";
import { stepsOf } from "../../src/dashboard/words/steps.ts";

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
