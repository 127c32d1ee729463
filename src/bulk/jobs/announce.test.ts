import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { sql } from "kysely";
import {
  allValid,
  newBatch,
  openBulkStores,
  termsFor,
} from "../../../test/contracts/bulk/bulk-stores.ts";
import { Dispatcher } from "../../webhooks/dispatcher.ts";
import { Deliveries, WebhookEndpoints } from "../../webhooks/webhooks-store.ts";
import { until } from "../../../test/time/until.ts";
import { createSecretBox } from "../../base/secrets.ts";
import { type Announcement, announcer } from "./announce.ts";
import { SESSION_LIFE_MS } from "./pack-batch.ts";
import { pruneSessions } from "./housekeeping.ts";

const MINUTE_MS = 60_000;

/** An account with a webhook, and an announcer that looks when the clock is put forward. */
async function announcing(t: TestContext, announcement?: Announcement) {
  const stores = await openBulkStores(t);
  const { sql: database, ids, clock, log, jobs } = stores;
  const { db } = database;
  const [endpoints, deliveries] = [new WebhookEndpoints(db), new Deliveries(db)];
  const [sealedSecret, url] = ["", "https://a1.example/"];
  await endpoints.save({ accountId: "a1", url, events: [], sealedSecret });
  const box = createSecretBox(new Uint8Array(32));
  const sender = { post: () => assert.fail("nothing is sent here") };
  const wakeOther = (): void => undefined;
  const deps = { endpoints, deliveries, box, sender, clock, log, ids, wakeOther };
  const terms = { ...stores, announcement: announcement ?? new Dispatcher(deps).announcement };
  const { announce, stop } = announcer(terms);
  t.after(stop);
  return {
    ...stores,
    announce,
    stop,
    /** A batch that is checked at once; its session. */
    complete: async (): Promise<string> => {
      const batch = newBatch(stores, 3);
      await jobs.create({ ...batch, outcomes: [allValid(3)] }, termsFor(batch));
      return batch.session;
    },
    run: (text: string) => sql.raw(text).execute(db),
    rows: async () =>
      (await deliveries.list("a1", 99)).map(({ session, state }) => ({ session, state })),
  };
}

test("a stop waits for the batch that is being announced, and takes no other", async (t) => {
  const announced: string[] = [];
  let tell = (): void => undefined;
  const { complete, announce, stop, jobs } = await announcing(t, {
    write: async (_tx, { session }) => {
      await new Promise<void>((resolve) => (tell = resolve));
      announced.push(session);
    },
    written: () => undefined,
  });
  await announce();
  const one = await complete();
  const two = await complete();
  const all = announce();
  await new Promise(setImmediate);
  let isStopped = false;
  const stopped = stop().then(() => (isStopped = true));
  await new Promise(setImmediate);
  assert.equal(isStopped, false);
  tell();
  await Promise.all([all, stopped]);
  assert.deepEqual(announced, [one]);
  await announce();
  assert.deepEqual([announced.length, await jobs.unannounced()], [1, [two]]);
});

test("a batch that completes while deliveries cannot be stored gets its row later, once", async (t) => {
  const { complete, announce, run, rows, clock, sql: database, log } = await announcing(t);
  await run("alter table webhook_deliveries rename to away");
  const session = await complete();
  await announce();
  // Its results expire meanwhile, the row that it is to get does not.
  for (let passed = 0; passed <= SESSION_LIFE_MS + MINUTE_MS; passed += MINUTE_MS) {
    clock.advance(MINUTE_MS);
    await announce();
  }
  await pruneSessions(database.db, clock.nowMs());
  assert.deepEqual([...new Set(log.lines)], ["error bulk.announce_failed"]);
  await run("alter table away rename to webhook_deliveries");
  clock.advance(1_000);
  await until(async () => (await rows()).length > 0);
  await announce();
  assert.deepEqual(await rows(), [{ session, state: "queued" }]);
  await pruneSessions(database.db, clock.nowMs());
  assert.deepEqual((await run("select * from jobs")).rows, []);
});

test("a batch that can never be announced holds up no other", async (t) => {
  const { complete, announce, run, rows, jobs } = await announcing(t);
  const first = await complete();
  await run(
    `create trigger refused before insert on webhook_deliveries when new.session = '${first}'
     begin select raise(abort, 'refused'); end`,
  );
  const others = [await complete(), await complete()];
  await announce();
  assert.deepEqual(new Set((await rows()).map(({ session }) => session)), new Set(others));
  assert.deepEqual(await jobs.unannounced(), [first]);
});
