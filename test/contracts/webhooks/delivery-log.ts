import { strict as assert } from "node:assert";
import { CAPS, type Check, delivery, idsOf, LIMITS } from "./stored-delivery.ts";

/** What the log of deliveries shows, and how long. */
export function logRules(check: Check): void {
  check("an outcome completes the row", async ({ deliveries }) => {
    await deliveries.enqueue(delivery("d1"), CAPS);
    await deliveries.claim(1_500, LIMITS);
    const outcome = { status: 500, error: "it said no", duration_ms: 12, snippet: "no\n" };
    await deliveries.complete("d1", "done", outcome);
    const row = { ...delivery("d1"), state: "done", attempted_at_ms: 1_500, ...outcome };
    assert.deepEqual({ ...(await deliveries.find("d1")) }, row);
    assert.deepEqual(
      (await deliveries.list("a", 10)).map((each) => ({ ...each })),
      [row],
    );
  });

  check("only what is being sent can be completed, and once", async ({ deliveries }) => {
    await deliveries.enqueue(delivery("d1"), CAPS);
    await deliveries.complete("d1", "done", { duration_ms: 1 });
    assert.equal((await deliveries.find("d1"))?.state, "queued");
    await deliveries.claim(1_500, LIMITS);
    assert.equal(await deliveries.interrupt(1_501), 1);
    await deliveries.complete("d1", "done", { duration_ms: 1, status: 200 });
    assert.equal((await deliveries.find("d1"))?.state, "interrupted");
    assert.deepEqual(await deliveries.claim(1_502, LIMITS), []);
  });

  check(
    "interrupting ends deliveries started before the given time, and no waiting one",
    async ({ deliveries }) => {
      await deliveries.enqueue(delivery("d1", "a"), CAPS);
      await deliveries.claim(1_500, LIMITS);
      await deliveries.enqueue(delivery("d2", "b"), CAPS);
      await deliveries.claim(1_600, LIMITS);
      await deliveries.enqueue(delivery("d3", "c"), CAPS);
      assert.equal(await deliveries.interrupt(1_600), 1);
      const states = await Promise.all(
        ["d1", "d2", "d3"].map(async (id) => (await deliveries.find(id))?.state),
      );
      assert.deepEqual(states, ["interrupted", "sending", "queued"]);
      assert.equal(await deliveries.interrupt(Number.MAX_SAFE_INTEGER), 1);
    },
  );

  check(
    "the log shows one account's deliveries, newest first, up to the limit",
    async ({ deliveries }) => {
      for (const [index, id] of ["d1", "d2", "d3"].entries()) {
        await deliveries.enqueue(delivery(id, "a", { queued_at_ms: 1_000 + index }), CAPS);
      }
      await deliveries.enqueue(delivery("e1", "b"), CAPS);
      assert.deepEqual(idsOf(await deliveries.list("a", 2)), ["d3", "d2"]);
      assert.deepEqual(idsOf(await deliveries.list("c", 2)), []);
    },
  );

  check(
    "pruning deletes and counts deliveries queued before the given time",
    async ({ deliveries }) => {
      await deliveries.enqueue(delivery("d1", "a", { queued_at_ms: 1_000 }), CAPS);
      await deliveries.enqueue(delivery("d2", "a", { queued_at_ms: 2_000 }), CAPS);
      assert.equal(await deliveries.prune(2_000), 1);
      assert.deepEqual(idsOf(await deliveries.list("a", 9)), ["d2"]);
    },
  );
}
