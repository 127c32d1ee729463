import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createSecretBox } from "../base/secrets.ts";
import { addAccount, openStores } from "../../test/contracts/stores.ts";
import { WebhookEndpoints } from "./webhooks-store.ts";
import { WebhookSetup } from "./configure.ts";
import { checkHost, setup } from "../../test/process/webhook-setup.ts";

test("events are checked, ordered and made single", async () => {
  const known = setup();
  const { events } = await known.set("a1", "https://hook.example/", [
    "bulk.completed",
    "test.ping",
    "bulk.completed",
  ]);
  assert.deepEqual(events, ["test.ping", "bulk.completed"]);
  for (const name of ["bulk.Completed", "bulk", "", "__proto__"]) {
    await assert.rejects(known.set("a1", "https://hook.example/", [name]), {
      code: "unknown_webhook_event",
    });
  }
});

test("a secret is 64 hex digits, stored sealed, replaced at once and shown once", async (t) => {
  const stores = await openStores(t);
  await addAccount(stores, 0, "a1");
  const endpoints = new WebhookEndpoints(stores.sql.db);
  const box = createSecretBox(new Uint8Array(32).fill(3));
  const known = new WebhookSetup({ endpoints, box, ids: stores.ids, checkHost });
  const first = await known.set("a1", "https://hook.example/", []);
  assert.match(first.secret, /^[0-9a-f]{64}$/);
  const stored = await stores.sql.db.selectFrom("webhook_endpoints").selectAll().execute();
  assert.ok(!JSON.stringify(stored).includes(first.secret));
  assert.deepEqual(await known.show("a1"), { url: "https://hook.example/", events: [] });
  const second = await known.renewSecret("a1");
  assert.notEqual(second.secret, first.secret);
  assert.equal(box.open((await endpoints.find("a1"))?.sealedSecret ?? "", "a1"), second.secret);
  const third = await known.set("a1", "https://hook.example/2", ["test.ping"]);
  assert.notEqual(third.secret, second.secret);
  assert.deepEqual(await known.selectEvents("a1", []), {
    url: "https://hook.example/2",
    events: [],
  });
  assert.equal(await known.remove("a1"), true);
  assert.equal(await known.remove("a1"), false);
  await assert.rejects(known.renewSecret("a1"), { code: "no_webhook" });
  await assert.rejects(known.selectEvents("a1", []), { code: "no_webhook" });
});
