import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { OutcomeCountRow } from "../store/tables/policy.ts";
import { createOutcomeReport } from "./outcomes.ts";

const TODAY = 20_000;
const DAY_MS = 86_400_000;

const rejected = (day: number, count: number): OutcomeCountRow => ({
  day,
  account_id: "a1",
  decision: "reject",
  reason: "disposable",
  key_id: "",
  form: "",
  count,
});

const report = createOutcomeReport({
  outcomes: {
    ofAccount: (_, fromDay) =>
      Promise.resolve(
        [rejected(TODAY - 9, 5), rejected(TODAY - 3, 2), rejected(TODAY, 1)].filter(
          ({ day }) => day >= fromDay,
        ),
      ),
  },
  keys: { list: () => Promise.resolve([]) },
  hooks: { list: () => Promise.resolve([]) },
  clock: { nowMs: () => TODAY * DAY_MS },
});

test("outcomes have as many days before them, which count for nothing else", async () => {
  const { days, before, total, reasons } = await report("a1", 7);
  assert.deepEqual([days.length, before.length, total], [7, 7, 3]);
  assert.equal(
    before.reduce((all, { reject }) => all + reject, 0),
    5,
  );
  assert.deepEqual(
    reasons.map(({ count }) => count),
    [3],
  );
});

test("before the counts began there are no days", async () => {
  const { days, before } = await report("a1", 400);
  assert.deepEqual([days.length, before.length], [400, 0]);
  assert.equal((await report("a1", 300)).before.length, 100);
});
