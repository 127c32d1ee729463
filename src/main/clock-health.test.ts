import assert from "node:assert/strict";
import { test } from "node:test";
import { openEmbedded } from "../store/database.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { DAY_MS } from "../core/calendar.ts";
import { clockBeside, clockPart, type KnownTime, newestWritten } from "./clock-health.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

const times: readonly (readonly [
  aheadMs: number,
  of: KnownTime["of"],
  says: string | undefined,
])[] = [
  [0, "written", undefined],
  [400 * DAY_MS, "written", undefined],
  [-60_000, "written", undefined],
  [-61_000, "written", "is 61 seconds behind times that are in the database"],
  [-3 * DAY_MS, "written", "is 3 days behind times that are in the database"],
  [60_000, "PostgreSQL", undefined],
  [3 * 3_600_000, "PostgreSQL", "is 3 hours ahead of that of PostgreSQL"],
  [-125_000, "PostgreSQL", "is 2 minutes behind that of PostgreSQL"],
];

for (const [aheadMs, of, says] of times) {
  test(`a clock ${String(aheadMs)} ms ahead of ${of} ${says ?? "is well"}`, () => {
    const trouble = clockBeside(NOW_MS + aheadMs, { ms: NOW_MS, of });
    assert.equal(trouble?.says, says && `This machine's clock ${says}.`);
  });
}

test("health: a clock that jumps is told until it is set back, or for an hour", async () => {
  const clock = manualClock();
  const { look } = clockPart(clock, () => Promise.resolve({ ms: 0, of: "written" }));
  const says = async () => (await look())?.says;
  const startMs = clock.nowMs();
  assert.equal(await says(), undefined);
  clock.advance(5_000);
  clock.stepTo(startMs - 3 * DAY_MS);
  assert.equal(await says(), "This machine's clock jumped 3 days back.");
  clock.advance(5_000);
  assert.equal(await says(), "This machine's clock jumped 3 days back.");
  clock.stepTo(startMs + 10_000);
  assert.equal(await says(), undefined);
  clock.stepTo(clock.nowMs() + 7_200_000);
  assert.equal(await says(), "This machine's clock jumped 2 hours ahead.");
  clock.advance(3_600_000);
  assert.equal(await says(), undefined);
  for (let slews = 0; slews < 10; slews += 1) {
    clock.stepTo(clock.nowMs() + 59_000);
    assert.equal(await says(), undefined, "steps of NTP");
  }
});

test("the newest time in an embedded database is that of a migration, an audit entry, a decision or a charge", async () => {
  const { db, close } = await openEmbedded(temporaryFolder(), NOW_MS);
  assert.deepEqual(await newestWritten(db), { ms: NOW_MS, of: "written" });
  const charge = { id: "1", owner: "a", paid_by: "plan", units: 1, amount: 1, refunded: 0, day: 0 };
  await db
    .insertInto("charges")
    .values({ ...charge, created_at_ms: NOW_MS + 5 } as never)
    .execute();
  assert.equal((await newestWritten(db)).ms, NOW_MS + 5);
  await close();
});
