import { createShares } from "../../src/base/shares.ts";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { MemoryQuotaCounter } from "../../src/accounts/admission/memory-quota-counter.ts";
import { memoryRateCounter } from "../../src/accounts/admission/rate-counter.ts";
import { sqlCharges } from "../../src/accounts/admission/charges.ts";
import { sqlChunkQueue } from "../../src/bulk/chunk-queue.ts";
import { sqlCredits } from "../../src/accounts/credits.ts";
import type { SqlDatabase } from "../../src/store/database.ts";
import { sqlJobs } from "../../src/bulk/jobs.ts";
import { sqlKeys } from "../../src/accounts/keys.ts";
import { openPostgres } from "../../src/store/postgres-database.ts";
import { sqlIdempotencyKeys } from "../../src/bulk/idempotency.ts";
import { sqlSessionStore } from "../../src/bulk/sessions.ts";
import { sqlUsageLedger } from "../../src/accounts/admission/usage.ts";
import { systemIds as ids } from "../../src/base/ids.ts";
import type { Clock } from "../../src/base/clock.ts";
import { hashApiKey, makeApiKey } from "../../src/accounts/admission/api-key.ts";
import { coreEntryCheck } from "../../src/bulk/worker/core-entry-check.ts";
import { bulkWorker } from "../../src/bulk/worker/worker.ts";
import type { CheckOne } from "../../src/check/check-one.ts";
import { createAdmission } from "../../src/accounts/admission/counting-admission.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import { mailEverywhere, noDatasets } from "../bulk/bulk-world.ts";
import { type BulkStores, unitsOf } from "../contracts/bulk/bulk-stores.ts";
import { addAccount, recordingLog } from "../contracts/stores.ts";
import { appWith, echoingCheck } from "../http/http-app.ts";
import { realClock } from "../time/real-clock.ts";
import { type CutLine, openCutLine } from "../services/cut-line.ts";
import type { SharedPostgres } from "../services/with-postgres.ts";
import { PATIENCE_MS, until } from "../time/until.ts";
import { inject } from "../http/inject.ts";

/** The service on a PostgreSQL behind a line that can be cut, in real time. */
export interface PostgresWorld {
  readonly line: CutLine;
  readonly stores: Omit<BulkStores, "clock"> & { readonly clock: Clock };
  /** The same database without the line, for inspection. */
  readonly direct: SqlDatabase;
  readonly databaseName: string;
  /** Starts a worker; the end of the test stops it. */
  readonly work: () => void;
  /** One single check by API key over HTTP: its status. */
  readonly check: () => Promise<number>;
  /** How many of them were 200. */
  readonly served: () => number;
}

export async function postgresWorld(
  t: TestContext,
  { server, database }: SharedPostgres,
  clock: Clock = realClock,
): Promise<PostgresWorld> {
  const url = await database();
  const line = await openCutLine(server().port);
  t.after(() => line.close());
  const direct = await openPostgres(url, clock.nowMs());
  t.after(() => direct.close());
  const far = new URL(url);
  far.port = String(line.port);
  far.username = await plainRole(direct);
  const opened = await openPostgres(far.href, clock.nowMs());
  t.after(() => opened.close());
  const stores = storesOn(opened, clock);
  await addAccount(stores, 100_000);
  const { stop, ...service } = await serviceOn(stores);
  t.after(stop);
  return { line, stores, direct, databaseName: far.pathname.slice(1), ...service };
}

/** The service's role: PostgreSQL exempts a superuser from every limit. */
async function plainRole({ db }: SqlDatabase): Promise<string> {
  const create = "begin create role plain login; exception when duplicate_object then null; end";
  await sql.raw(`do $$ ${create} $$`).execute(db);
  await sql.raw("grant all on schema public to plain").execute(db);
  await sql.raw("grant all on all tables in schema public to plain").execute(db);
  return "plain";
}

function storesOn(opened: SqlDatabase, clock: Clock): PostgresWorld["stores"] {
  const { db } = opened;
  const log = recordingLog();
  const usage = sqlUsageLedger(db);
  const counter = new MemoryQuotaCounter({ ledger: usage, clock, log });
  const charges = sqlCharges({ db, counter, ids });
  const deps = { db, charges, ids };
  return {
    sql: opened,
    clock,
    log,
    ids,
    usage,
    counter,
    charges,
    credits: sqlCredits(db),
    jobs: sqlJobs(deps),
    chunks: sqlChunkQueue(deps),
    sessions: sqlSessionStore(deps),
    idempotencyKeys: sqlIdempotencyKeys(deps),
    unitsUsed: () => unitsOf(usage, clock.nowMs()),
  };
}

async function serviceOn(stores: PostgresWorld["stores"]) {
  const { clock, log, charges, counter, chunks } = stores;
  const keys = sqlKeys(stores.sql.db);
  const apiKey = makeApiKey(ids);
  const shown = { id: "k1", accountId: "a1", name: "", prefix: "", lastFour: "" };
  await keys.create({ ...shown, hash: hashApiKey(apiKey), createdAtMs: 0 }, 10);
  const unlimited = { ...DEFAULT_TIERS.pro, ratePerMinute: null };
  const admission = createAdmission({
    keys,
    rates: memoryRateCounter(),
    quotas: counter,
    charges,
    clock,
    tiers: { ...DEFAULT_TIERS, free: unlimited },
  });
  const checkOne: CheckOne = async (entrance, request) => {
    const { paidBy } = await admission.charge(entrance, 1);
    return { ...(await echoingCheck(entrance, request)), paidBy };
  };
  const app = appWith({ admission, checkOne, clock });
  const lookup = mailEverywhere();
  const real = { datasets: () => noDatasets, lookup, again: lookup, clock, implicitMx: false };
  const checkNow = coreEntryCheck({ ...real, budgetMs: 5_000, againBudgetMs: 1_700 });
  const worker = bulkWorker({
    shares: createShares(),
    window: () => 1_000,
    chunks,
    name: "w1",
    clock,
    log,
    check: async (entry, options) => {
      await pause(300); // a job then takes seconds, as with real DNS
      return checkNow(entry, options);
    },
    room: () => undefined,
    dnsAnswers: () => Promise.resolve(true),
    completed: () => undefined,
  });
  let served = 0;
  return {
    work: () => worker.start(),
    served: () => served,
    stop: () => worker.stop().catch(() => undefined),
    async check() {
      const headers = { "x-api-key": apiKey };
      const { statusCode } = await inject(app, { url: "/api/email/ada@x.example", headers });
      if (statusCode === 200) served += 1;
      return statusCode;
    },
  };
}

/** Waits until `look` returns true, ignoring faults; the error names the last fault. */
export async function eventually(what: string, look: () => Promise<boolean>): Promise<void> {
  let last: unknown;
  const isSeen = (): Promise<boolean> =>
    look().catch((fault: unknown) => {
      last = fault;
      return false;
    });
  await until(isSeen, { what, everyMs: 50, withinMs: 2 * PATIENCE_MS }).catch((fault: unknown) => {
    throw last === undefined ? fault : new Error(String(fault), { cause: last });
  });
}

/** The account's balance, which must be the sum of its ledger and the last line's. */
export async function checkedBalance({ direct }: PostgresWorld): Promise<number> {
  const rows = await direct.db
    .selectFrom("credit_entries")
    .select(["amount", "balance_after"])
    .where("account_id", "=", "a1")
    .orderBy("sequence")
    .execute();
  const { credit_balance: balance } = await direct.db
    .selectFrom("accounts")
    .select("credit_balance")
    .where("id", "=", "a1")
    .executeTakeFirstOrThrow();
  const sum = rows.reduce((total, { amount }) => total + amount, 0);
  assert.deepEqual([sum, rows.at(-1)?.balance_after], [balance, balance]);
  return balance;
}
