import { strict as assert } from "node:assert";
import { test } from "node:test";
import { worldFor } from "../../test/dashboard/account-world.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { HourCounts, pruneHours } from "./hour-counts.ts";

test("what an account did is counted by hour of its day, and forgotten with it", async (t) => {
  const { world } = await worldFor(t);
  const { db } = world.store.sql;
  const id = await world.addAccount("ann@gatepost.example");
  const clock = manualClock();
  const hours = new HourCounts(db, { clock, log: { error: () => undefined } });
  clock.advance(86_400_000 - (clock.nowMs() % 86_400_000)); // midnight
  hours.note(id, "requests");
  hours.note(id, "reject");
  hours.note("0".repeat(32), "requests");
  await hours.flush();
  clock.advance(3_600_000);
  hours.note(id, "requests");
  hours.note(id, "requests");
  await hours.flush();
  const of = async (kind: "requests" | "reject"): Promise<readonly number[]> =>
    (await hours.today(id)).map((hour) => hour[kind]);
  assert.deepEqual(
    [await of("requests"), await of("reject")],
    [
      [1, 2],
      [1, 0],
    ],
  );
  assert.equal(await pruneHours(db, clock.nowMs()), 0);
  assert.equal(await pruneHours(db, clock.nowMs() + 4 * 86_400_000), 3);
});
