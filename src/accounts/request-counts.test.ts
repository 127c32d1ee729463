import { strict as assert } from "node:assert";
import { test } from "node:test";
import { worldFor } from "../../test/dashboard/account-world.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { DAY_MS } from "../core/calendar.ts";
import { pruneRequestCounts, RequestCounts } from "./request-counts.ts";

test("refused requests are summed by code and key, most often first, and go after 400 days", async (t) => {
  const { world } = await worldFor(t);
  const { db } = world.store.sql;
  const id = await world.addAccount("ann@gatepost.example");
  const other = await world.addAccount("bob@gatepost.example");
  const clock = manualClock();
  const refusals = new RequestCounts(db, { clock, log: { error: () => undefined } });
  refusals.noteRefusal(id, "k1", "bad_parameter");
  refusals.noteRefusal("0".repeat(32), "k1", "bad_parameter"); // deleted meanwhile
  await refusals.flush();
  clock.advance(DAY_MS);
  for (const key of ["k1", "k1", "", "k2"]) refusals.noteRefusal(id, key, "rate_exceeded");
  refusals.noteRefusal(other, "k3", "rate_exceeded");
  await refusals.flush();
  refusals.noteRefusal(id, "k1", "rate_exceeded");
  await refusals.flush();
  const two = [
    { code: "rate_exceeded", key_id: "k1", count: 3 },
    { code: "bad_parameter", key_id: "k1", count: 1 },
    { code: "rate_exceeded", key_id: null, count: 1 },
    { code: "rate_exceeded", key_id: "k2", count: 1 },
  ];
  assert.deepEqual(await refusals.refusals(id, 2), two);
  const one = await refusals.refusals(id, 1);
  assert.equal(
    one.some(({ code }) => code === "bad_parameter"),
    false,
  );
  clock.advance(399 * DAY_MS);
  assert.equal(await pruneRequestCounts(db, clock.nowMs()), 0);
  clock.advance(DAY_MS);
  assert.equal(await pruneRequestCounts(db, clock.nowMs()), 1);
});
