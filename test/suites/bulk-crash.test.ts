import assert from "node:assert/strict";
import { test } from "node:test";
import {
  count,
  crashDirectory,
  type Death,
  dieAndGoOn,
  lastWord,
  startBulkProcess,
  unfaulted,
} from "../bulk/bulk-crash.ts";

const SMALL = "a@b.example,nonsense,c.example";

/** Stages after which others continue without waiting for a lease; the others are in the long suite. */
const deaths: readonly Death[] = [
  { name: "after the charge", stage: "charged", times: 1, isThere: false, events: 1 },
  { name: "after the insert", stage: "inserted", times: 1, isThere: false, events: 1 },
  {
    name: "after the acceptance, before the answer",
    stage: "accepted",
    times: 1,
    isThere: true,
    events: 1,
  },
  {
    name: "with the job completed but not announced",
    stage: "completed",
    times: 1,
    isThere: true,
    events: 1,
  },
  {
    name: "during the announcement, which is then lost",
    stage: "announced",
    times: 1,
    isThere: true,
    events: 0,
  },
];

test("a process killed between two steps loses nothing and charges once", async (t) => {
  const want = await unfaulted(t);
  for (const death of deaths) {
    await t.test(`killed ${death.name}`, (t) => dieAndGoOn(t, death, want));
  }
});

for (const stage of ["charged", "inserted", "accepted"]) {
  test(`a small batch whose process is killed at "${stage}" is charged once or not at all`, async (t) => {
    const dataDir = await crashDirectory(t);
    const first = startBulkProcess(t, { dataDir, text: SMALL, dieAt: { stage, times: 1 } });
    assert.equal(await first.ended(), "SIGKILL");
    const second = startBulkProcess(t, { dataDir, text: SMALL });
    assert.equal(await second.ended(), null);
    const { state, units } = lastWord(second);
    assert.deepEqual([state, units], ["completed", 3]);
    assert.equal(count(second.lines, "accepted"), stage === "accepted" ? 0 : 1);
    assert.equal(count(second.lines, "event"), 1);
  });
}
