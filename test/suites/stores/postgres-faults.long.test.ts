import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { storeDownOf } from "../../../src/base/store-down.ts";
import { newJob, termsFor } from "../../contracts/bulk/bulk-stores.ts";
import { manualClock } from "../../time/manual-clock.ts";
import {
  checkedBalance,
  eventually,
  postgresWorld,
  type PostgresWorld,
} from "../../scaled/postgres-world.ts";
import { givenTime } from "../../time/given-time.ts";
import { type SharedPostgres, withPostgres } from "../../services/with-postgres.ts";

/** No answer may take longer during any outage of PostgreSQL. */
const ANSWER_WITHIN_MS = 3_000;
const CHUNKS = 12;
const ENTRIES = CHUNKS * 500;

/** Does something to PostgreSQL or the line, waits, and undoes it. */
type Fault = (world: PostgresWorld, shared: SharedPostgres) => Promise<void>;

const cutFor =
  (ms: number): Fault =>
  async ({ line }) => {
    await line.cut();
    await pause(ms);
    await line.mend();
  };

const endSessions = (name: string): string =>
  `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;

const faults: readonly (readonly [string, Fault])[] = [
  [
    "stopped in order and started again",
    async (_, { server }) => {
      await server().stop("fast");
      await pause(2_000);
      await server().start();
    },
  ],
  [
    "killed and started again",
    async (_, { server }) => {
      await server().stop("kill");
      await server().start();
    },
  ],
  ["cut off for a second", cutFor(1_000)],
  ["cut off for ten seconds", cutFor(10_000)],
  [
    "silent behind a frozen line for five seconds",
    async ({ line }) => {
      line.freeze();
      await pause(5_000);
      await line.mend();
    },
  ],
  [
    "slow by 300 ms each way",
    async ({ line }) => {
      line.slow(300);
      await pause(4_000);
      line.slow(0);
    },
  ],
  [
    "read-only for three seconds",
    async ({ databaseName }, { server }) => {
      const alter = `alter database ${databaseName}`;
      await server().run(`${alter} set default_transaction_read_only = on`);
      await server().run(endSessions(databaseName));
      await pause(3_000);
      await server().run(`${alter} reset default_transaction_read_only`);
    },
  ],
  [
    "out of connections for three seconds",
    async ({ databaseName }, { server }) => {
      await server().run("alter role plain connection limit 0");
      await server().run(endSessions(databaseName));
      await pause(3_000);
      await server().run("alter role plain connection limit -1");
    },
  ],
];

/** What clients saw during a fault. */
interface Traffic {
  /** Checks that got 503, and failed charges. */
  refused: number;
  /** Answered charges by credits. */
  charged: number;
  /** Of `givenTime`. */
  longestMs: number;
  readonly odd: unknown[];
}

/** Single checks and charges, two at a time and about twenty a second each, until stopped. */
function startTraffic({ check, stores }: PostgresWorld) {
  const given = givenTime();
  const seen: Traffic = { refused: 0, charged: 0, longestMs: 0, odd: [] };
  const terms = () =>
    ({
      owner: { kind: "account", accountId: "a1" },
      units: 3,
      limits: { daily: null, monthly: null },
      purses: "credits",
      nowMs: stores.clock.nowMs(),
    }) as const;
  const timed = async (act: () => Promise<void>): Promise<void> => {
    const startMs = given.nowMs();
    await act().catch((fault: unknown) => void seen.odd.push(fault));
    seen.longestMs = Math.max(seen.longestMs, given.nowMs() - startMs);
  };
  const single = async (): Promise<void> => {
    const status = await check();
    if (status === 503) seen.refused += 1;
    else if (status !== 200) seen.odd.push(status);
  };
  const charge = async (): Promise<void> => {
    try {
      const paid = await stores.charges.charge(terms());
      if (paid.kind === "charged") seen.charged += 1;
    } catch (fault) {
      if (storeDownOf(fault) === undefined) throw fault;
      seen.refused += 1;
    }
  };
  let isOver = false;
  const goOn = async (act: () => Promise<void>): Promise<void> => {
    while (!isOver) {
      await timed(act);
      await pause(100);
    }
  };
  const going = [single, single, charge, charge].map(goOn);
  return {
    seen,
    async stop(): Promise<void> {
      isOver = true;
      await Promise.all(going);
      given.stop();
    },
  };
}

async function isDone({ stores }: PostgresWorld, session: string): Promise<boolean> {
  const found = await stores.sessions.find(session, stores.clock.nowMs());
  assert.notEqual(found?.state, "failed");
  return found?.state === "completed";
}

async function survive(world: PostgresWorld, act: () => Promise<void>, isSlow: boolean) {
  const { stores } = world;
  const order = newJob(stores, ENTRIES);
  assert.equal((await stores.jobs.create(order, termsFor(order))).kind, "accepted");
  world.work();
  assert.equal(await world.check(), 200);
  const traffic = startTraffic(world);
  await act();
  await eventually("checks as before", async () => (await world.check()) === 200);
  await eventually("a database that answers", () => stores.sql.answers());
  await traffic.stop();
  await eventually("the job's end", () => isDone(world, order.session));
  await eventually("what waited in the ledger", async () => {
    await stores.counter.flush();
    return true;
  });
  const { seen } = traffic;
  assert.deepEqual(seen.odd, []);
  if (!isSlow) {
    assert.ok(seen.refused > 0, "the fault had an effect");
    assert.ok(seen.longestMs < ANSWER_WITHIN_MS, `${String(seen.longestMs)} ms`);
  }
  await checkInvariants(world, { seen, session: order.session });
}

/** Every unit once, every credit explained, every entry checked. */
async function checkInvariants(
  world: PostgresWorld,
  { seen, session }: { readonly seen: Traffic; readonly session: string },
): Promise<void> {
  const { direct, stores } = world;
  const job = await stores.sessions.find(session, stores.clock.nowMs());
  assert.deepEqual([job?.processed, job?.tally.valid], [ENTRIES, ENTRIES]);
  const [used] = await stores.usage.days("account:a1", 0, 99_999);
  assert.equal(used?.units, ENTRIES + world.served());
  const charges = await direct.db.selectFrom("charges").selectAll().execute();
  const byCredits = charges.filter((row) => row.paid_by === "credits");
  assert.ok(byCredits.length >= seen.charged);
  assert.equal(await checkedBalance(world), 100_000 - byCredits.length * 3);
  assert.equal(used?.credits, byCredits.length * 3);
}

withPostgres("the service through faults of PostgreSQL", (shared) => {
  for (const [name, fault] of faults) {
    test(`a PostgreSQL that is ${name} costs only answers`, async (t) => {
      const world = await postgresWorld(t, shared);
      await survive(world, () => fault(world, shared), name.startsWith("slow"));
    });
  }

  test("without PostgreSQL a known key works for 5 s, then gets 503, then works again", async (t) => {
    const clock = manualClock(Date.now());
    const world = await postgresWorld(t, shared, clock);
    assert.equal(await world.check(), 200);
    await world.line.cut();
    clock.advance(3_999);
    assert.equal(await world.check(), 200);
    clock.advance(1);
    assert.equal(await world.check(), 503);
    assert.equal(await world.stores.sql.answers(), false);
    await world.line.mend();
    assert.equal(await world.check(), 200);
    await world.stores.counter.flush();
    assert.equal(await world.stores.unitsUsed(), 3);
  });
});
