import { strict as assert } from "node:assert";
import { once } from "node:events";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { manualClock } from "../../test/time/manual-clock.ts";
import { realClock } from "../../test/time/real-clock.ts";
import { inTime } from "./clock.ts";

test("work that takes longer is late, and leaves no timer", async () => {
  const clock = manualClock();
  const said = inTime(new Promise(() => undefined), { timeoutMs: 500, late: "late", clock });
  clock.advance(499);
  assert.equal(await Promise.race([said, Promise.resolve("not yet")]), "not yet");
  clock.advance(1);
  assert.equal(await said, "late");
});

test("an answer that came while this process had no turn is not late", async (t) => {
  const { port1: there, port2: here } = new MessageChannel();
  t.after(() => here.close());
  const answer = once(here, "message").then(([word]) => String(word));
  const said = inTime(answer, { timeoutMs: 1, late: "late", clock: realClock });
  there.postMessage("here"); // from now on it waits to be read
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs); // as a machine does that gives its cores to others
  assert.equal(await said, "here");
});
