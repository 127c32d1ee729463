import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { recordingLog } from "../../../test/contracts/stores.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { createLiveRules, OPERATOR_POLL_MS } from "./live-rules.ts";

test("each outage of the store is logged once, however often it is looked at", async () => {
  const clock = manualClock();
  const log = recordingLog();
  let isUp = true;
  const changes = (): Promise<number> =>
    isUp ? Promise.resolve(1) : Promise.reject(new Error("away"));
  const entries = { changes, all: () => Promise.resolve([]) };
  const live = createLiveRules({ entries, hash: (text) => text, clock, log });
  live.start(() => undefined);
  for (const up of [true, false, false, false, true, true, false, false]) {
    isUp = up;
    clock.advance(OPERATOR_POLL_MS);
    await nextTurn();
  }
  live.stop();
  assert.deepEqual(log.lines, ["error rules.read_failed", "error rules.read_failed"]);
});
