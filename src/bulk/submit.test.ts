import { strict as assert } from "node:assert";
import { test } from "node:test";
import { addAccount } from "../../test/contracts/stores.ts";
import {
  allOf,
  bulkWorld,
  domains,
  entranceOf,
  KEYLESS,
  listOf,
  mailEverywhere,
  sessionOf,
  STARTER,
} from "../../test/bulk/bulk-world.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import { Refusal } from "../base/refusals.ts";
import { DEFAULT_TIERS } from "../accounts/admission/tiers.ts";
import { checkBulkText } from "./submit.ts";
import { until } from "../../test/time/until.ts";

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

const sizes = [
  ["an empty text is missing", "", "400 missing_parameter"],
  ["2,000,000 octets are fine", "a".repeat(2_000_000), "accepted"],
  ["one octet more is too large", "a".repeat(2_000_001), "413 bulk_too_large"],
  ["octets count, not characters", "\u20ac".repeat(666_667), "413 bulk_too_large"],
  ["666,666 characters of three octets fit", "\u20ac".repeat(666_666), "accepted"],
] as const;

for (const [name, text, want] of sizes) {
  test(name, async () => {
    assert.equal(await refusalOf(Promise.resolve().then(() => checkBulkText(text))), want);
  });
}

test("a small batch is checked at once, charged by unique entries and can be viewed", async (t) => {
  const { bulk, stores, events } = await bulkWorld(t, { lookup });
  const text = "Ann@mail.example,ann@MAIL.example silent.example nonsense,b.example";
  const answer = await bulk.submit(entranceOf(STARTER), listOf(text));
  assert.ok(answer.kind === "done");
  const { session } = answer.stats;
  assert.deepEqual(answer.stats, {
    total: 5,
    unique: 4,
    invalid_format: 1,
    invalid_dns: 1,
    disposable: 0,
    valid: 2,
    session,
  });
  assert.equal(await stores.unitsUsed(), 4);
  const results = await allOf(answer.results());
  assert.deepEqual(
    results.map(({ spelling }) => spelling),
    ["Ann@mail.example", "ann@MAIL.example", "silent.example", "nonsense", "b.example"],
  );
  assert.equal(results[0]?.result, results[1]?.result);
  const view = await bulk.view(STARTER, session);
  assert.ok(view.kind === "list");
  assert.deepEqual(await allOf(view.valid()), ["Ann@mail.example", "b.example"]);
  await until(() => events.length === 1 || undefined);
  assert.deepEqual(events[0], { owner: STARTER.owner, session, stats: answer.stats });
});

test("separators alone are missing input", async (t) => {
  const { bulk } = await bulkWorld(t, { lookup });
  const answer = bulk.submit(entranceOf(STARTER), listOf(" ,\r\n\t,"));
  assert.equal(await refusalOf(answer), "400 missing_parameter");
});

test("100 unique entries are checked at once, 101 are queued", async (t) => {
  const { bulk } = await bulkWorld(t, { lookup });
  const small = await bulk.submit(entranceOf(STARTER), listOf(`${domains(100)},d0.example`));
  assert.equal(small.kind, "done");
  const large = await bulk.submit(entranceOf(STARTER), listOf(domains(101)));
  assert.ok(large.kind === "queued");
  assert.deepEqual(large.queued, {
    session: sessionOf(large),
    status: "pending",
    email_count: 101,
    estimated_seconds: 1,
  });
});

test("refusals come in the order of the decisions, and charge nothing", async (t) => {
  const anonymous = { ...DEFAULT_TIERS.anonymous, daily: 350, bulkLimit: 300 };
  const world = await bulkWorld(t, { lookup, tiers: { anonymous }, bufferMax: 350 });
  const { bulk, stores } = world;
  const submit = (count: number) =>
    refusalOf(bulk.submit(entranceOf(KEYLESS), listOf(domains(count))));
  assert.equal(await submit(301), "422 too_many_entries");
  assert.equal(await submit(200), "accepted");
  assert.equal(await submit(200), "429 job_running");
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
  const busy = full.bulk.submit(entranceOf(other), listOf(domains(201)));
  assert.equal(await refusalOf(busy), "503 bulk_busy 60");
});

test("an account has no cooldown", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  const first = await bulk.submit(entranceOf(STARTER), listOf(domains(200)));
  await bulk.remove(STARTER, sessionOf(first));
  assert.equal(await stores.unitsUsed(), 0);
  assert.equal((await bulk.submit(entranceOf(STARTER), listOf(domains(200)))).kind, "queued");
});

test("a spent time budget queues the whole batch, charged once", async (t) => {
  const never = new Promise<never>(() => undefined);
  const { bulk, stores } = await bulkWorld(t, { lookup, check: () => never });
  const answer = bulk.submit(entranceOf(STARTER), listOf(domains(50)));
  const queued = await until(async () => {
    stores.clock.advance(10_000);
    return Promise.race([answer, Promise.resolve(undefined)]);
  });
  assert.ok(queued.kind === "queued");
  assert.equal(queued.queued.email_count, 50);
  assert.equal(await stores.unitsUsed(), 50);
  const again = refusalOf(bulk.submit(entranceOf(STARTER), listOf(domains(50))));
  const refusal = await until(async () => {
    stores.clock.advance(10_000);
    return Promise.race([again, Promise.resolve(undefined)]);
  });
  assert.equal(refusal, "429 job_running");
  assert.equal(await stores.unitsUsed(), 50);
});

test("credits pay when the plan is spent", async (t) => {
  const starter = { ...DEFAULT_TIERS.starter, daily: 10 };
  const { bulk, stores } = await bulkWorld(t, { lookup, tiers: { starter } });
  const nowMs = stores.clock.nowMs();
  await stores.credits.grant({ accountId: "a1", amount: 30, reference: "test", nowMs });
  const entrance = { ...entranceOf(STARTER), hasCredits: true };
  const answer = await bulk.submit(entrance, listOf(domains(20)));
  assert.equal(answer.paidBy, "credits");
  assert.equal(
    (await refusalOf(bulk.submit(entrance, listOf(domains(20))))).slice(0, 18),
    "429 quota_exceeded",
  );
  assert.equal(await stores.unitsUsed(), 0);
});

test("a repeated request gets the same answer, uncharged", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  for (const count of [3, 200]) {
    const retry = { key: `key-${String(count)}`, bodyHash: "b1" };
    const submit = () => bulk.submit(entranceOf(STARTER), listOf(domains(count), { retry }));
    const first = await submit();
    const used = await stores.unitsUsed();
    const second = await submit();
    assert.equal(await stores.unitsUsed(), used);
    if (first.kind === "queued") assert.deepEqual(second, first);
    else {
      assert.ok(second.kind === "done");
      assert.deepEqual(second.stats, first.stats);
      assert.deepEqual(await allOf(second.results()), await allOf(first.results()));
    }
    const other = listOf(domains(count), { retry: { ...retry, bodyHash: "b2" } });
    assert.equal(await refusalOf(bulk.submit(entranceOf(STARTER), other)), "422 retry_other_body");
  }
});

test("of two requests with one key one is answered, one refused, and a refusal frees the key", async (t) => {
  const { bulk } = await bulkWorld(t, { lookup });
  const retry = { key: "k", bodyHash: "b" };
  const submit = (count: number) =>
    refusalOf(bulk.submit(entranceOf(STARTER), listOf(domains(count), { retry })));
  assert.deepEqual((await Promise.all([submit(5), submit(5)])).toSorted(), [
    "409 retry_in_flight 1",
    "accepted",
  ]);
  const other = { key: "k2", bodyHash: "b" };
  const tooMany = listOf(domains(25_001), { retry: other });
  assert.equal(await refusalOf(bulk.submit(entranceOf(STARTER), tooMany)), "422 too_many_entries");
  const fixed = listOf(domains(5), { retry: { ...other, bodyHash: "c" } });
  assert.equal(await refusalOf(bulk.submit(entranceOf(STARTER), fixed)), "accepted");
});

test("a store that fails is 503, and the log knows why", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  await stores.sql.db.schema.dropTable("chunks").execute();
  const answer = bulk.submit(entranceOf(STARTER), listOf(domains(5)));
  assert.equal(await refusalOf(answer), "503 bulk_unavailable 10");
  assert.deepEqual(stores.log.lines, ["error bulk.submit_failed"]);
  assert.equal(await stores.unitsUsed(), 0);
});

test("another account's batches are its own", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  await addAccount(stores, 0, "a2");
  const other: Caller = { ...STARTER, owner: { kind: "account", accountId: "a2" } };
  await bulk.submit(entranceOf(STARTER), listOf(domains(200)));
  assert.equal((await bulk.submit(entranceOf(other), listOf(domains(200)))).kind, "queued");
});
