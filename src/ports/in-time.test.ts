import { strict as assert } from "node:assert";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { manualClock } from "../../test/manual-clock.ts";
import { realClock } from "../../test/real-clock.ts";
import { inTime } from "./in-time.ts";

test("work that takes longer is late, and leaves no timer", async () => {
  const clock = manualClock();
  const said = inTime(new Promise(() => undefined), { timeoutMs: 500, late: "late", clock });
  clock.advance(499);
  assert.equal(await Promise.race([said, Promise.resolve("not yet")]), "not yet");
  clock.advance(1);
  assert.equal(await said, "late");
});

test("an answer that came while this process had no turn is not late", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[peer]] = (await Promise.all([once(server, "connection"), once(socket, "connect")])) as [
    [Socket],
    unknown,
  ];
  const answer = once(socket, "data").then(String);
  const said = inTime(answer, { timeoutMs: 1, late: "late", clock: realClock });
  peer.end("here");
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs); // as a machine does that gives its cores to others
  assert.equal(await said, "here");
});
