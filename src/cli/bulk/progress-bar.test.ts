import { strict as assert } from "node:assert";
import { test } from "node:test";
import { clockTime, progressLine, type RunProgress } from "../commands/bulk.ts";

const run: RunProgress = {
  entries: 45_000,
  elapsedMs: 15_000,
  share: 0.45,
};

/** Name, progress, columns, and the line. */
const lines: readonly (readonly [string, RunProgress, number, string])[] = [
  ["a wide terminal", run, 60, "[#######---------]  45 %  45,000 entries  3,000/s  0:18 left"],
  ["a narrow one has no bar", run, 42, " 45 %  45,000 entries  3,000/s  0:18 left"],
  ["a very narrow one has less", run, 20, " 45 %  45,000 entrie"],
  [
    "standard input has no share",
    { entries: 45_000, elapsedMs: 15_000 },
    60,
    "45,000 entries  3,000/s",
  ],
  [
    "nothing done yet",
    { entries: 0, elapsedMs: 0, share: 0 },
    40,
    "[----------------]   0 %  0 entries  0/s",
  ],
  [
    "all done",
    { ...run, share: 1 },
    60,
    "[################] 100 %  45,000 entries  3,000/s  0:00 left",
  ],
];

for (const [name, progress, columns, want] of lines) {
  test(`the progress line: ${name}`, () => {
    assert.equal(progressLine(progress, columns), want);
    assert.ok(want.length <= columns);
  });
}

test("times read like a clock", () => {
  const shown = [0, 999, 59_400, 61_000, 3_599_000, 3_909_000].map(clockTime);
  assert.deepEqual(shown, ["0:00", "0:01", "0:59", "1:01", "59:59", "1:05:09"]);
});
