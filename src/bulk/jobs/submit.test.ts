import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  bulkWorld,
  domains,
  admittedAs,
  KEYLESS,
  listOf,
  mailEverywhere,
  sessionOf,
  STARTER,
} from "../../../test/bulk/bulk-world.ts";
import type { Caller } from "../../accounts/admission/caller.ts";
import { Refusal } from "../../base/refusals.ts";
import { DEFAULT_TIERS } from "../../accounts/admission/tiers.ts";
import { until } from "../../../test/time/until.ts";

const lookup = mailEverywhere((name) => name.startsWith("silent"));

/** "422 too_many_entries", and the wait if it names one. */
async function refusalOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert.deepEqual(error.detail, {}, "bulk refusals have one field");
    const wait = error.retryAfterSeconds;
    return `${String(error.status)} ${error.code}${wait === undefined ? "" : ` ${String(wait)}`}`;
  }
  return "accepted";
}

test("refusals come in the order of the decisions, and charge nothing", async (t) => {
  const anonymous = { ...DEFAULT_TIERS.anonymous, daily: 350, bulkLimit: 300 };
  const world = await bulkWorld(t, { lookup, tiers: { anonymous }, bufferMax: 350 });
  const { bulk, stores } = world;
  const submit = (count: number) =>
    refusalOf(bulk.submit(admittedAs(KEYLESS), listOf(domains(count))));
  assert.equal(await submit(301), "422 too_many_entries");
  assert.equal(await submit(200), "accepted");
  assert.equal(await submit(200), "429 job_running 10");
  assert.equal(await submit(100), "accepted", "a small batch needs no slot");
  world.worker().start();
  stores.clock.advance(20_000);
  await until(async () => (await stores.jobs.queueAhead(0)).openEntries.length === 0 || undefined);
  assert.equal(await submit(200), "429 bulk_cooldown 40");
  stores.clock.advance(40_000);
  assert.equal((await submit(200)).slice(0, 18), "429 quota_exceeded");
  assert.equal((await submit(100)).slice(0, 18), "429 quota_exceeded");
  const other: Caller = { ...KEYLESS, owner: { kind: "bucket", bucket: "192.0.2.9" } };
  await world.worker("none").stop();
  const full = await bulkWorld(t, { lookup, bufferMax: 200 });
  const busy = full.bulk.submit(admittedAs(other), listOf(domains(201)));
  assert.equal(await refusalOf(busy), "503 service_full 60");
});

test("an account has no cooldown", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  const first = await bulk.submit(admittedAs(STARTER), listOf(domains(200)));
  await bulk.remove(STARTER, sessionOf(first));
  assert.equal(await stores.unitsUsed(), 0);
  assert.equal((await bulk.submit(admittedAs(STARTER), listOf(domains(200)))).kind, "queued");
});

test("a spent time budget queues the whole batch, charged once", async (t) => {
  const never = new Promise<never>(() => undefined);
  const { bulk, stores } = await bulkWorld(t, { lookup, check: () => never });
  const answer = bulk.submit(admittedAs(STARTER), listOf(domains(50)));
  const queued = await until(async () => {
    stores.clock.advance(10_000);
    return Promise.race([answer, Promise.resolve(undefined)]);
  });
  assert.ok(queued.kind === "queued");
  assert.equal(queued.queued.email_count, 50);
  assert.equal(await stores.unitsUsed(), 50);
  const again = refusalOf(bulk.submit(admittedAs(STARTER), listOf(domains(50))));
  const refusal = await until(async () => {
    stores.clock.advance(10_000);
    return Promise.race([again, Promise.resolve(undefined)]);
  });
  assert.equal(refusal, "429 job_running 10");
  assert.equal(await stores.unitsUsed(), 50);
});

test("credits pay when the plan is spent", async (t) => {
  const starter = { ...DEFAULT_TIERS.starter, daily: 10 };
  const { bulk, stores } = await bulkWorld(t, { lookup, tiers: { starter } });
  await stores.credits.grant("a1", 30, "test");
  const admitted = { ...admittedAs(STARTER), hasCredits: true };
  const answer = await bulk.submit(admitted, listOf(domains(20)));
  assert.equal(answer.paidBy, "credits");
  assert.equal(
    (await refusalOf(bulk.submit(admitted, listOf(domains(20))))).slice(0, 18),
    "429 quota_exceeded",
  );
  assert.equal(await stores.unitsUsed(), 0);
});

test("of two requests with one key one is answered, one refused, and a refusal frees the key", async (t) => {
  const { bulk } = await bulkWorld(t, { lookup });
  const retry = { key: "k", bodyHash: "b" };
  const submit = (count: number) =>
    refusalOf(bulk.submit(admittedAs(STARTER), listOf(domains(count), { retry })));
  assert.deepEqual((await Promise.all([submit(5), submit(5)])).toSorted(), [
    "409 retry_in_flight 1",
    "accepted",
  ]);
  const other = { key: "k2", bodyHash: "b" };
  const tooMany = listOf(domains(25_001), { retry: other });
  assert.equal(await refusalOf(bulk.submit(admittedAs(STARTER), tooMany)), "422 too_many_entries");
  const fixed = listOf(domains(5), { retry: { ...other, bodyHash: "c" } });
  assert.equal(await refusalOf(bulk.submit(admittedAs(STARTER), fixed)), "accepted");
});

test("a store that fails is 503, and the log knows why", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  await stores.sql.db.schema.dropTable("chunks").execute();
  const answer = bulk.submit(admittedAs(STARTER), listOf(domains(5)));
  assert.equal(await refusalOf(answer), "503 store_unavailable 10");
  assert.deepEqual(stores.log.lines, ["error bulk.submit_failed"]);
  assert.equal(await stores.unitsUsed(), 0);
});
