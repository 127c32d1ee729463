import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import type { CompletedBatch } from "./batches-store.ts";
import { announcer } from "./announce.ts";

const batch = (session: string): CompletedBatch => ({
  owner: { kind: "account", accountId: "ada" },
  session,
  total: 1,
  unique: 1,
  tally: { invalidFormat: 0, invalidDns: 0, disposable: 0, valid: 1 },
});

test("a stop waits for the batch that is marked as announced, and takes no other", async () => {
  const left = [batch("one"), batch("two")];
  const announced: string[] = [];
  let tell = (): void => undefined;
  const { announce, stop } = announcer({
    jobs: { takeCompleted: () => Promise.resolve(left.shift()) },
    clock: manualClock(),
    log: { info: () => undefined, warn: () => undefined, error: (event) => assert.fail(event) },
    onCompleted: async ({ session }) => {
      await new Promise<void>((resolve) => (tell = resolve));
      announced.push(session);
    },
  });
  const all = announce();
  await new Promise(setImmediate);
  let isStopped = false;
  const stopped = stop().then(() => (isStopped = true));
  await new Promise(setImmediate);
  assert.equal(isStopped, false);
  tell();
  await Promise.all([all, stopped]);
  assert.deepEqual(announced, ["one"]);
  await announce();
  assert.deepEqual([announced.length, left.length], [1, 1]);
});
