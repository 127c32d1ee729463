import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import type { Make } from "../contract.ts";
import { logRules } from "./delivery-log.ts";
import {
  CAPS,
  type Check,
  delivery,
  idsOf,
  LIMITS,
  NO_OUTCOME,
  type WebhookStores,
} from "./stored-delivery.ts";

/** The contract of every webhook store. */
export function webhookStoreContract(name: string, make: Make<WebhookStores>): void {
  const check = (rule: string, run: (stores: WebhookStores) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t: TestContext) => {
      const stores = await make(t);
      for (const id of "abcdefgh") await stores.account(id);
      await run(stores);
    });
  endpointRules(check);
  queueRules(check);
  claimRules(check);
  logRules(check);
}

const ENDPOINT = {
  accountId: "a",
  url: "https://x.example/",
  events: [],
  sealedSecret: "s1",
} as const;

function endpointRules(check: Check): void {
  check("an account has one endpoint, which is replaced completely", async ({ endpoints }) => {
    assert.equal(await endpoints.find("a"), undefined);
    await endpoints.save(ENDPOINT);
    assert.deepEqual(await endpoints.find("a"), ENDPOINT);
    const next = { ...ENDPOINT, url: "https://y.example/", events: ["bulk.completed"] } as const;
    await endpoints.save({ ...next, sealedSecret: "s2" });
    assert.deepEqual(await endpoints.find("a"), { ...next, sealedSecret: "s2" });
    assert.equal(await endpoints.find("b"), undefined);
  });

  check(
    "events and secret change independently, and only with an endpoint",
    async ({ endpoints }) => {
      assert.deepEqual(
        [
          await endpoints.change("a", { events: [] }),
          await endpoints.change("a", { sealedSecret: "x" }),
          await endpoints.remove("a"),
        ],
        [false, false, false],
      );
      await endpoints.save(ENDPOINT);
      assert.equal(await endpoints.change("a", { events: ["test.ping"] }), true);
      assert.equal(await endpoints.change("a", { sealedSecret: "s9" }), true);
      assert.deepEqual(await endpoints.find("a"), {
        ...ENDPOINT,
        events: ["test.ping"],
        sealedSecret: "s9",
      });
    },
  );

  check(
    "removing the endpoint ends queued deliveries, not those being sent or of another account",
    async (stores) => {
      const { endpoints, deliveries } = stores;
      await endpoints.save(ENDPOINT);
      await deliveries.enqueue(delivery("d1"), CAPS);
      await deliveries.claim(1_001, LIMITS);
      await deliveries.enqueue(delivery("d2"), CAPS);
      await deliveries.enqueue(delivery("d3", "b"), CAPS);
      assert.equal(await endpoints.remove("a"), true);
      assert.equal(await endpoints.find("a"), undefined);
      const states = await Promise.all(
        ["d1", "d2", "d3"].map(async (id) => (await deliveries.find(id))?.state),
      );
      assert.deepEqual(states, ["sending", "removed", "queued"]);
      assert.deepEqual(idsOf(await deliveries.claim(1_002, LIMITS)), ["d3"]);
    },
  );
}

function queueRules(check: Check): void {
  check("a delivery is claimed once, as it was queued", async ({ deliveries }) => {
    const ping = delivery("p", "a", { event: "test.ping", session: null, queued_at_ms: 5 });
    assert.equal(await deliveries.enqueue(ping, CAPS), "queued");
    const begun = { state: "sending", attempted_at_ms: 9, ...NO_OUTCOME };
    const [claimed] = await deliveries.claim(9, LIMITS);
    assert.deepEqual({ ...claimed }, { ...ping, ...begun });
    assert.deepEqual(await deliveries.claim(9, LIMITS), []);
  });

  check("claims at the same time never give one delivery twice", async ({ deliveries }) => {
    for (const id of "abcdef") await deliveries.enqueue(delivery(`d${id}`, id), CAPS);
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => deliveries.claim(2_000, LIMITS)),
    );
    assert.deepEqual(idsOf(claims.flat()).sort(), ["da", "db", "dc", "dd", "de", "df"]);
  });

  check(
    "a delivery beyond the waiting limit is logged as dropped and never claimed",
    async ({ deliveries }) => {
      const caps = { waiting: 2 };
      const made = [];
      for (const id of ["d1", "d2", "d3"]) made.push(await deliveries.enqueue(delivery(id), caps));
      assert.deepEqual(made, ["queued", "queued", "dropped"]);
      assert.equal(await deliveries.enqueue(delivery("d4", "b"), caps), "queued");
      assert.deepEqual(idsOf(await deliveries.claim(2_000, LIMITS)).sort(), ["d1", "d2", "d4"]);
      assert.equal((await deliveries.find("d3"))?.state, "dropped");
    },
  );

  check("a delivery beyond the log's limit is not kept", async ({ deliveries }) => {
    const ping = (id: string, queuedAtMs: number, accountId = "a") =>
      deliveries.enqueue(
        delivery(id, accountId, { event: "test.ping", queued_at_ms: queuedAtMs }),
        {
          ...CAPS,
          recent: { sinceMs: queuedAtMs - 100, most: 2 },
        },
      );
    await deliveries.enqueue(delivery("d1", "a", { queued_at_ms: 999 }), CAPS);
    assert.equal(await ping("p1", 1_000), "queued");
    await deliveries.claim(1_000, LIMITS);
    await deliveries.complete("p1", "done", { duration_ms: 1 });
    assert.equal(await ping("p2", 1_050), "queued");
    assert.equal(await ping("p3", 1_099), "too_many");
    assert.equal(await deliveries.find("p3"), undefined);
    assert.equal(await ping("p4", 1_099, "b"), "queued");
    assert.equal(await ping("p5", 1_100), "queued");
  });

  check("parallel deliveries fill a limit exactly", async ({ deliveries }) => {
    const recent = { sinceMs: 0, most: 4 };
    const made = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        deliveries.enqueue(delivery(`d${String(index)}`), { ...CAPS, recent }),
      ),
    );
    assert.equal(made.filter((each) => each === "queued").length, 4);
  });
}

function claimRules(check: Check): void {
  check("an account has at most its limit of open deliveries", async ({ deliveries }) => {
    for (let index = 0; index < 5; index += 1)
      await deliveries.enqueue(delivery(`d${String(index)}`), CAPS);
    const limits = { perAccount: 3, inAll: 9, beyondFirst: 9 };
    assert.deepEqual(idsOf(await deliveries.claim(2_000, limits)), ["d0", "d1", "d2"]);
    assert.deepEqual(await deliveries.claim(2_000, limits), []);
    await deliveries.complete("d1", "done", { duration_ms: 1 });
    assert.deepEqual(idsOf(await deliveries.claim(2_000, limits)), ["d3"]);
  });

  check(
    "first deliveries of accounts come before further ones, the oldest first",
    async ({ deliveries }) => {
      await deliveries.enqueue(delivery("a1", "a", { queued_at_ms: 1 }), CAPS);
      await deliveries.enqueue(delivery("a2", "a", { queued_at_ms: 2 }), CAPS);
      await deliveries.enqueue(delivery("c1", "c", { queued_at_ms: 4 }), CAPS);
      await deliveries.enqueue(delivery("b1", "b", { queued_at_ms: 3 }), CAPS);
      assert.deepEqual(idsOf(await deliveries.claim(9, LIMITS)), ["a1", "b1", "c1", "a2"]);
    },
  );

  check(
    "further deliveries leave the other places to accounts without open ones",
    async ({ deliveries }) => {
      for (const id of ["a", "b", "c", "d"]) {
        for (const number of "123") await deliveries.enqueue(delivery(id + number, id), CAPS);
      }
      assert.deepEqual(idsOf(await deliveries.claim(9, LIMITS)), [
        "a1",
        "b1",
        "c1",
        "d1",
        "a2",
        "b2",
      ]);
      await deliveries.complete("a1", "done", { duration_ms: 1 });
      await deliveries.complete("c1", "done", { duration_ms: 1 });
      await deliveries.enqueue(delivery("e1", "e", { queued_at_ms: 2_000 }), CAPS);
      assert.deepEqual(idsOf(await deliveries.claim(9, LIMITS)), ["c2", "e1"]);
    },
  );

  check("the total of places is never exceeded", async ({ deliveries }) => {
    for (const id of "abcdefgh") await deliveries.enqueue(delivery(`${id}1`, id), CAPS);
    assert.equal((await deliveries.claim(9, LIMITS)).length, 6);
    assert.equal((await deliveries.claim(9, LIMITS)).length, 0);
  });

  check(
    "one delivery can be claimed before earlier ones, within the same limits",
    async ({ deliveries }) => {
      for (let index = 0; index < 5; index += 1)
        await deliveries.enqueue(delivery(`d${String(index)}`), CAPS);
      assert.deepEqual(idsOf(await deliveries.claim(9, LIMITS, "d4")), ["d4"]);
      assert.deepEqual(idsOf(await deliveries.claim(9, LIMITS, "d4")), []);
      assert.deepEqual(idsOf(await deliveries.claim(9, LIMITS)), ["d0", "d1"]);
      assert.deepEqual(idsOf(await deliveries.claim(9, LIMITS, "d2")), []);
    },
  );
}
