import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { CompiledQuery } from "kysely";
import { UnsavedUnits } from "../../../src/accounts/admission/counters.ts";
import { Charges } from "../../../src/accounts/admission/charges.ts";
import { pruneCounters, SharedCounters } from "../../../src/accounts/admission/shared-counters.ts";
import { Credits } from "../../../src/accounts/credits.ts";
import { UsageLedger } from "../../../src/accounts/admission/usage.ts";
import type { PostgresDatabase } from "../../../src/store/postgres-database.ts";
import { inTransaction } from "../../../src/store/transaction.ts";
import { systemIds } from "../../../src/base/ids.ts";
import { createAddressHash } from "../../../src/base/secrets.ts";
import { DAY_MS, dayOf } from "../../../src/core/calendar.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { ownerKey } from "../../../src/base/owner.ts";
import { StoreDown } from "../../../src/base/store-down.ts";
import { withPostgres } from "../../services/with-postgres.ts";
import { type ManualClock, manualClock } from "../../time/manual-clock.ts";
import { realClock } from "../../time/real-clock.ts";
import { addAccount, openStores, recordingLog } from "../stores.ts";
import { chargesContract } from "./charges.ts";
import { quotaCounterContract } from "./quota-counter.ts";
import { rateCounterContract } from "./rate-counter.ts";

/** Its timers do not keep the test alive. */
const writing: Pick<Clock, "after"> = {
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

async function closeAll({ journal }: Server, sql: PostgresDatabase): Promise<void> {
  await journal.flush();
  await sql.close();
}

interface Server {
  readonly counters: SharedCounters;
  readonly charges: Charges;
  readonly journal: UnsavedUnits;
  readonly ledger: UsageLedger;
}

/** What one server counts with; its windows follow `time`, its timers are real. */
function serverOn(sql: PostgresDatabase, time: ManualClock): Server {
  const ledger = new UsageLedger(sql.db);
  const journal = new UnsavedUnits({ ledger, clock: writing, log: recordingLog() });
  const clock: Clock = { ...realClock, nowMs: () => time.nowMs() };
  const serverMs = (): number => Math.floor(time.monotonicMs());
  const counters = new SharedCounters({ ...sql, ledger, journal, hash, clock, serverMs });
  const charges = new Charges({ db: sql.db, shared: counters, ids: systemIds });
  return { counters, charges, journal, ledger };
}

const hash = createAddressHash(new Uint8Array(32));

const FREE = { ratePerMinute: 60, daily: 100, monthly: 1_000 } as const;
const OWNER = "account:a1";

withPostgres("counters that servers share", ({ open, again }) => {
  const openServer = async (t: TestContext) => {
    const time = manualClock();
    const sql = await open(time.nowMs());
    const one = serverOn(sql, time);
    t.after(() => closeAll(one, sql));
    return { ...one, sql, time, clock: time };
  };
  const openTwo = async (t: TestContext) => {
    const one = await openServer(t);
    const sql = await again(one.time.nowMs());
    const other = serverOn(sql, one.time);
    t.after(() => closeAll(other, sql));
    return { one, other };
  };

  quotaCounterContract("PostgreSQL", async (t) => {
    const { counters, journal, ledger, sql, clock } = await openServer(t);
    return {
      counter: counters.quotas,
      ledger,
      clock,
      restart: () => new SharedCounters({ ...sql, ledger, journal, hash, clock: realClock }).quotas,
      flushed: () => journal.flush(),
    };
  });

  rateCounterContract("PostgreSQL", async (t) => {
    const time = manualClock();
    const sql = await open(time.nowMs());
    t.after(() => sql.close());
    const ledger = new UsageLedger(sql.db);
    const journal = new UnsavedUnits({ ledger, clock: writing, log: recordingLog() });
    const clock = {
      nowMs: () => time.nowMs(),
      monotonicMs: () => time.monotonicMs(),
      after: (_ms: number, task: () => void) => realClock.after(1, task),
    };
    const serverMs = (): number => Math.floor(time.monotonicMs());
    const { rates } = new SharedCounters({ ...sql, ledger, journal, hash, clock, serverMs });
    return { counter: rates, clock: time };
  });

  chargesContract("PostgreSQL, shared", async (t) => {
    let opened: PostgresDatabase | undefined;
    const stores = await openStores(t, async (nowMs) => (opened = await open(nowMs)));
    assert.ok(opened !== undefined);
    const { counters, charges, journal } = serverOn(opened, stores.clock);
    t.after(() => journal.flush().catch(() => undefined));
    return {
      ...stores,
      charges,
      counter: counters.quotas,
      account: (balance) => addAccount(stores, balance),
      nowMs: stores.clock.nowMs(),
    };
  });

  test("two servers grant exactly what is left of a quota and of a rate", async (t) => {
    const { one, other } = await openTwo(t);
    const nowMs = one.time.nowMs();
    const answers = await Promise.all(
      Array.from({ length: 600 }, (_, at) =>
        (at % 2 === 0 ? one : other).counters.requests.take(
          OWNER,
          { ratePerMinute: 250, daily: 200, monthly: null },
          nowMs,
        ),
      ),
    );
    assert.equal(answers.filter(({ rate }) => rate?.isGranted === true).length, 250);
    assert.equal(answers.filter(({ unit }) => unit?.kind === "taken").length, 200);
    assert.equal(answers.filter(({ unit }) => unit?.kind === "spent").length, 50);
    const left = answers.flatMap(({ rate }) => (rate?.isGranted === true ? [rate.remaining] : []));
    assert.deepEqual(
      left.toSorted((a, b) => a - b),
      Array.from({ length: 250 }, (_, at) => at),
      "each granted request is told a remainder of its own",
    );
    await Promise.all([one.journal.flush(), other.journal.flush()]);
    const { inDay } = await one.ledger.unitsUsed(OWNER, dayOf(nowMs));
    assert.equal(inDay, 200);
  });

  test("bulk charges and single checks of two servers share one quota", async (t) => {
    const { one, other } = await openTwo(t);
    await addAccount({
      sql: one.sql,
      credits: new Credits(one.sql.db, { clock: one.time }),
      clock: one.time,
    });
    const nowMs = one.time.nowMs();
    const limits = { daily: 100, monthly: null };
    const owner = { kind: "account", accountId: "a1" } as const;
    const terms = { owner, units: 7, limits, purses: "plan", nowMs } as const;
    const units = await Promise.all(
      Array.from({ length: 120 }, async (_, at) => {
        const { counters, charges } = at % 2 === 0 ? one : other;
        if (at % 6 < 2) return (await charges.charge(terms)).kind === "charged" ? 7 : 0;
        return (await counters.quotas.take(OWNER, 1, limits, nowMs)).kind === "taken" ? 1 : 0;
      }),
    );
    const granted = units.reduce<number>((sum, unit) => sum + unit, 0);
    assert.equal(granted, 100);
  });

  test("many owners are counted by two servers at once without a deadlock", async (t) => {
    const { one, other } = await openTwo(t);
    const owners = Array.from({ length: 200 }, (_, at) => `bucket:198.51.100.${String(at)}`);
    const nowMs = one.time.nowMs();
    for (let round = 1; round <= 5; round += 1) {
      await Promise.all(
        [one, other].flatMap(({ counters }, at) =>
          (at === 0 ? owners : owners.toReversed()).map((owner) =>
            counters.requests.take(owner, FREE, nowMs),
          ),
        ),
      );
    }
    for (const owner of owners.slice(0, 5)) {
      const { rate } = await one.counters.requests.take(owner, FREE, nowMs);
      assert.equal(rate?.remaining, FREE.ratePerMinute - 11);
    }
  });

  test("an owner that is over its rate is refused without a question", async (t) => {
    const { sql, time } = await openServer(t);
    let statements = 0;
    const run: typeof sql.counting.run = (statement, values) => {
      statements += 1;
      return sql.counting.run(statement, values);
    };
    const { counters, journal } = serverOn({ ...sql, counting: { ...sql.counting, run } }, time);
    const limits = { ...FREE, ratePerMinute: 2 };
    const ask = () => counters.requests.take(OWNER, limits, time.nowMs());
    for (let call = 0; call < 3; call += 1) await ask();
    const before = statements;
    for (let call = 0; call < 50; call += 1) {
      const { rate } = await ask();
      assert.equal(rate?.isGranted, false);
      assert.ok(rate.closesInMs > 0 && rate.closesInMs <= 60_000);
    }
    assert.equal(statements, before);
    const wider = await counters.requests.take(OWNER, { ...FREE, ratePerMinute: 3 }, time.nowMs());
    assert.equal(wider.rate?.isGranted, true);
    await journal.flush();
  });

  test("rows hold hashes of addresses, which count what the ledger has of the address", async (t) => {
    const { counters, charges, journal, sql, time } = await openServer(t);
    const owner = { kind: "bucket", bucket: "203.0.113.77" } as const;
    const [key, nowMs] = [ownerKey(owner), time.nowMs()];
    await journal.flush();
    const limits = { ...FREE, daily: 4 };
    assert.equal((await counters.requests.take(key, limits, nowMs)).unit?.kind, "taken");
    assert.equal((await counters.quotas.take(key, 1, limits, nowMs)).kind, "taken");
    const rate = await counters.rates.take(key, FREE.ratePerMinute, time.monotonicMs());
    assert.equal(rate.remaining, FREE.ratePerMinute - 2);
    await counters.rates.giveBack(key, rate.window);
    await charges.charge({ owner, units: 1, limits, purses: "plan", nowMs });
    const { rows } = await sql.db.executeQuery<object>(CompiledQuery.raw("select * from counters"));
    assert.equal(JSON.stringify(rows).includes("203.0.113.77"), false);
    await journal.flush();
    await pruneCounters(sql.db, Date.now() + 3 * DAY_MS);
    const kinds: unknown[] = [];
    for (let call = 0; call < 2; call += 1) {
      kinds.push((await counters.quotas.take(key, 1, limits, nowMs)).kind);
    }
    assert.deepEqual(kinds, ["taken", "spent"]);
    await journal.flush();
  });

  test("while PostgreSQL is away, requests fail at once instead of waiting in line", async () => {
    const time = manualClock();
    const fault = new StoreDown("PostgreSQL does not serve");
    let asked = 0;
    const counting = { run: () => ((asked += 1), Promise.reject(fault)) };
    const ledger = { take: () => Promise.reject(fault), add: () => Promise.reject(fault) };
    const journal = new UnsavedUnits({ ledger, clock: writing, log: recordingLog() });
    const { requests } = new SharedCounters({
      counting,
      general: counting,
      ledger,
      journal,
      hash,
      clock: realClock,
    });
    const all = await Promise.allSettled(
      Array.from({ length: 500 }, (_, at) =>
        requests.take(`bucket:${String(at)}`, FREE, time.nowMs()),
      ),
    );
    assert.ok(all.every(({ status }) => status === "rejected"));
    assert.ok(asked <= 2, `${String(asked)} statements`);
    await assert.rejects(requests.take(OWNER, FREE, time.nowMs()));
    assert.ok(asked <= 2);
  });

  test("a row that is lost is made anew from the ledger, with its month", async (t) => {
    const { counters, journal, sql, time } = await openServer(t);
    const nowMs = Date.UTC(2026, 10, 20, 12);
    time.stepTo(nowMs);
    const limits = { ratePerMinute: null, daily: 2, monthly: 3 };
    await counters.requests.take(OWNER, limits, nowMs - DAY_MS);
    await counters.requests.take(OWNER, limits, nowMs);
    await journal.flush();
    assert.equal(await pruneCounters(sql.db, Date.now() + 3 * DAY_MS), 1);
    const kinds: unknown[] = [];
    for (let call = 0; call < 2; call += 1) {
      kinds.push((await counters.requests.take(OWNER, limits, nowMs)).unit);
    }
    assert.deepEqual(kinds, [
      { kind: "taken", day: dayOf(nowMs) },
      { kind: "spent", period: "month" },
    ]);
  });

  test("an owner whose row a transaction has locked keeps no other owner waiting", async (t) => {
    const { counters, sql, time } = await openServer(t);
    const nowMs = time.nowMs();
    const ask = (owner: string) => counters.requests.take(owner, FREE, nowMs);
    await Promise.all([ask(OWNER), ask("account:b")]);
    const locked: Promise<unknown>[] = [];
    await inTransaction(sql.db, async (tx) => {
      const limits = { daily: 100, monthly: null };
      await counters.countIn(tx, { owner: OWNER, units: 1, limits, day: dayOf(nowMs) });
      for (let round = 0; round < 5; round += 1) {
        locked.push(ask(OWNER));
        assert.equal((await ask("account:b")).rate?.isGranted, true);
      }
    });
    await Promise.all(locked);
    assert.equal((await ask(OWNER)).rate?.remaining, FREE.ratePerMinute - 7);
  });
});
