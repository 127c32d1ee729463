import { strict as assert } from "node:assert";
import { CAPS, type Check, delivery, idsOf, LIMITS } from "./stored-delivery.ts";

/** What the log of deliveries shows, and how long. */
export function logRules(check: Check): void {
  check("an outcome completes the row", async ({ deliveries }) => {
    await deliveries.enqueue(delivery("d1"), CAPS);
    await deliveries.claim(1_500, LIMITS);
    const outcome = { status: 500, error: "it said no", durationMs: 12, snippet: "no\n" };
    await deliveries.complete("d1", "done", outcome);
    assert.deepEqual(await deliveries.find("d1"), {
      id: "d1",
      event: "bulk.completed",
      session: "0".repeat(32),
      state: "done",
      queuedAtMs: 1_000,
      attemptedAtMs: 1_500,
      ...outcome,
    });
  });

  check("unknown fields are absent", async ({ deliveries }) => {
    const ping = {
      id: "p",
      accountId: "a",
      event: "test.ping",
      data: "{}",
      queuedAtMs: 5,
    } as const;
    await deliveries.enqueue(ping, CAPS);
    const row = { id: "p", event: "test.ping", state: "queued", queuedAtMs: 5 };
    assert.deepEqual(await deliveries.find("p"), row);
    assert.deepEqual(await deliveries.list("a", 10), [row]);
  });

  check("only what is being sent can be completed, and once", async ({ deliveries }) => {
    await deliveries.enqueue(delivery("d1"), CAPS);
    await deliveries.complete("d1", "done", { durationMs: 1 });
    assert.equal((await deliveries.find("d1"))?.state, "queued");
    await deliveries.claim(1_500, LIMITS);
    assert.equal(await deliveries.interrupt(1_501), 1);
    await deliveries.complete("d1", "done", { durationMs: 1, status: 200 });
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
        await deliveries.enqueue(delivery(id, "a", { queuedAtMs: 1_000 + index }), CAPS);
      }
      await deliveries.enqueue(delivery("e1", "b"), CAPS);
      assert.deepEqual(idsOf(await deliveries.list("a", 2)), ["d3", "d2"]);
      assert.deepEqual(idsOf(await deliveries.list("c", 2)), []);
    },
  );

  check(
    "pruning deletes and counts deliveries queued before the given time",
    async ({ deliveries }) => {
      await deliveries.enqueue(delivery("d1", "a", { queuedAtMs: 1_000 }), CAPS);
      await deliveries.enqueue(delivery("d2", "a", { queuedAtMs: 2_000 }), CAPS);
      assert.equal(await deliveries.prune(2_000), 1);
      assert.deepEqual(idsOf(await deliveries.list("a", 9)), ["d2"]);
    },
  );
}
