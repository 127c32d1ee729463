import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  allOf,
  bulkWorld,
  type BulkWorld,
  domains,
  entranceOf,
  KEYLESS,
  listOf,
  mailEverywhere,
  sessionOf,
  STARTER,
} from "../../test/bulk/bulk-world.ts";
import { splitText } from "../core/batch/batch-chunk.ts";
import { finish } from "../core/batch/batch.ts";
import { SESSION_LIFE_MS, type TableRows } from "./batches-store.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import { Refusal } from "../base/refusals.ts";
import type { BulkProgress } from "./bulk.ts";
import { until } from "../../test/time/until.ts";

const lookup = mailEverywhere();
const OTHER_ACCOUNT: Caller = { ...STARTER, owner: { kind: "account", accountId: "a2" } };
const ELSEWHERE = { clientAddress: "192.0.2.99" };
const STRANGER: Caller = {
  ...KEYLESS,
  ...ELSEWHERE,
  owner: { kind: "bucket", bucket: "192.0.2.99" },
};

async function allowed(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.status, error.message], [404, "Session not found or expired."]);
    return false;
  }
}

/** Who submits how much; who asks; whether they may view, and whether they may have everything. */
const access: readonly (readonly [string, Caller, number, Caller, boolean, boolean])[] = [
  [
    "a synchronous result is its account's from anywhere",
    STARTER,
    5,
    { ...STARTER, ...ELSEWHERE },
    true,
    true,
  ],
  ["a keyless caller from its address may view it only", STARTER, 5, KEYLESS, true, false],
  ["a keyless caller from another address may not", STARTER, 5, STRANGER, false, false],
  ["another account from its address may not", STARTER, 5, OTHER_ACCOUNT, false, false],
  ["a queued job is its account's alone", STARTER, 200, KEYLESS, false, false],
  [
    "a queued job is its account's from anywhere",
    STARTER,
    200,
    { ...STARTER, ...ELSEWHERE },
    true,
    true,
  ],
  ["an anonymous session is its address's", KEYLESS, 5, KEYLESS, true, true],
  ["with a key from that address too", KEYLESS, 200, OTHER_ACCOUNT, true, true],
  ["the same /64 is not the same address", KEYLESS, 5, { ...KEYLESS, ...ELSEWHERE }, false, false],
];

for (const [name, submitter, count, reader, mayView, mayHaveAll] of access) {
  test(name, async (t) => {
    const { bulk } = await bulkWorld(t, { lookup });
    const session = sessionOf(await bulk.submit(entranceOf(submitter), listOf(domains(count))));
    assert.equal(await allowed(bulk.view(reader, session)), mayView);
    assert.equal(await allowed(bulk.results(reader, session)), mayHaveAll);
    assert.equal(await allowed(bulk.progress(reader, session)), mayHaveAll);
    assert.equal(await allowed(bulk.remove(reader, session)), mayHaveAll);
  });
}

test("malformed, unknown, expired and forgotten sessions are the same 404", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  const session = sessionOf(await bulk.submit(entranceOf(STARTER), listOf("a.example")));
  const other = sessionOf(await bulk.submit(entranceOf(STARTER), listOf("b.example")));
  await bulk.remove(STARTER, other);
  for (const hash of [
    "",
    "x",
    "..",
    "__proto__",
    "0".repeat(32),
    session.toUpperCase() + "A",
    other,
  ]) {
    assert.equal(await allowed(bulk.view(STARTER, hash)), false, hash);
  }
  assert.equal(await allowed(bulk.remove(STARTER, other)), false);
  assert.equal(await allowed(bulk.view(STARTER, session)), true);
  stores.clock.advance(SESSION_LIFE_MS);
  assert.equal(await allowed(bulk.view(STARTER, session)), false);
});

test("a batch without a valid entry is shown as a summary", async (t) => {
  const { bulk } = await bulkWorld(t, { lookup });
  const session = sessionOf(await bulk.submit(entranceOf(STARTER), listOf("nonsense,x@")));
  assert.deepEqual(await bulk.view(STARTER, session), {
    kind: "summary",
    summary: {
      session,
      status: "completed",
      email_count: 2,
      processed_count: 2,
      total: 2,
      unique: 2,
      invalid_format: 2,
      invalid_dns: 0,
      disposable: 0,
      valid: 0,
    },
  });
});

async function queuedAndDone(world: BulkWorld, text: string): Promise<string> {
  const session = sessionOf(await world.bulk.submit(entranceOf(STARTER), listOf(text)));
  world.worker().start();
  await until(async () => {
    const view = await world.bulk.view(STARTER, session);
    return view.kind === "progress" ? undefined : view;
  });
  return session;
}

test("a queued job goes from pending to completed, and its list keeps the order", async (t) => {
  const world = await bulkWorld(t, { lookup });
  const session = sessionOf(await world.bulk.submit(entranceOf(STARTER), listOf(domains(1_700))));
  assert.deepEqual(await world.bulk.view(STARTER, session), {
    kind: "progress",
    progress: { session, status: "pending", email_count: 1_700 },
  });
  world.worker().start();
  const view = await until(async () => {
    const seen = await world.bulk.view(STARTER, session);
    return seen.kind === "list" ? seen : undefined;
  });
  assert.deepEqual(await allOf(view.valid()), domains(1_700).split("\n"));
  assert.equal(view.stats.valid, 1_700);
  await until(() => world.events.length === 1 || undefined);
  assert.deepEqual(world.events[0]?.stats, view.stats);
});

test("results name every spelling in order, across chunks", async (t) => {
  const world = await bulkWorld(t, { lookup });
  const text = `${domains(1_200)}\nD0.example\n__proto__\nD1199.example\nD700.example`;
  const session = await queuedAndDone(world, text);
  const answer = await world.bulk.results(STARTER, session);
  assert.ok(answer.kind === "results");
  const results = await allOf(answer.results());
  assert.deepEqual(
    results.map(({ spelling }) => spelling),
    text.split("\n"),
  );
  const byName = new Map(results.map(({ spelling, result }) => [spelling, result]));
  assert.equal(byName.get("D0.example"), byName.get("d0.example"));
  assert.equal(byName.get("D700.example"), byName.get("d700.example"));
  assert.match(byName.get("__proto__") ?? "", /^\{"format":false,/);
});

test("an uploaded table's rows come with their results, blank cells without", async (t) => {
  const world = await bulkWorld(t, { lookup });
  const cells = [...domains(900).split("\n"), "", "D3.example", "d899.example"];
  const rows = cells.map((cell, at) => [String(at), cell]);
  const split = finish(splitText(cells.join("\n"), "lines"));
  const entries = [...Array(900).keys(), 3, 899];
  const stored = rows.map((row) => (row[1] === "" ? { cells: row, count: 0 } : row));
  const page = (from: number, to?: number): TableRows => ({
    cells: Buffer.from(JSON.stringify(stored.slice(from, to))),
    entries: Int32Array.from(entries.slice(from, to)),
  });
  const pages = [page(0, 500), page(500)];
  const table = { header: ["n", "site"], pages };
  const request = { split, table };
  const session = sessionOf(await world.bulk.submit(entranceOf(STARTER), request));
  world.worker().start();
  const answer = await until(async () => {
    const seen = await world.bulk.results(STARTER, session);
    return seen.kind === "results" ? seen : undefined;
  });
  assert.deepEqual(answer.table?.header, ["n", "site"]);
  const got = await allOf(answer.table?.rows() ?? []);
  assert.deepEqual(
    got.map((row) => row.cells),
    rows,
  );
  assert.deepEqual(got[900]?.results, []);
  assert.deepEqual(got[901]?.results, got[3]?.results);
  assert.match(got[902]?.results[0] ?? "", /"domain":"d899\.example"/);
});

test("progress is sent when it changes, at most once a second, until the job ends", async (t) => {
  const world = await bulkWorld(t, { lookup });
  const { bulk, stores } = world;
  const session = sessionOf(await bulk.submit(entranceOf(STARTER), listOf(domains(700))));
  const seen: BulkProgress[] = [];
  let isOver = false;
  const events = await bulk.progress(STARTER, session);
  const reading = (async () => {
    for await (const progress of events) seen.push(progress);
    isOver = true;
  })();
  await until(() => seen.length === 1 || undefined);
  stores.clock.advance(999);
  world.worker().start();
  await until(async () => (await bulk.view(STARTER, session)).kind === "list" || undefined);
  assert.equal(seen.length, 1);
  await until(() => {
    stores.clock.advance(1);
    return isOver || undefined;
  });
  await reading;
  assert.deepEqual(seen, [
    { session, status: "pending", email_count: 700 },
    { session, status: "completed", email_count: 700, processed_count: 700 },
  ]);
});

test("progress ends when the session is deleted", async (t) => {
  const { bulk, stores } = await bulkWorld(t, { lookup });
  const session = sessionOf(await bulk.submit(entranceOf(STARTER), listOf(domains(200))));
  let isOver = false;
  const events = await bulk.progress(STARTER, session);
  void (async () => {
    for await (const progress of events) assert.equal(progress.status, "pending");
    isOver = true;
  })();
  await bulk.remove(STARTER, session);
  await until(() => {
    stores.clock.advance(1_000);
    return isOver || undefined;
  });
});

test("a reader that outlives the session is cut off without an end", async (t) => {
  const world = await bulkWorld(t, { lookup });
  const session = await queuedAndDone(world, domains(600));
  const answer = await world.bulk.results(STARTER, session);
  assert.ok(answer.kind === "results");
  await world.bulk.remove(STARTER, session);
  await assert.rejects(allOf(answer.results()), /ended while it was read/);
});
