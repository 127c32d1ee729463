import type { TestContext } from "node:test";
import { MemoryQuotaCounter } from "../../src/accounts/admission/counters.ts";
import { Charges } from "../../src/accounts/admission/charges.ts";
import { ChunkQueue } from "../../src/bulk/jobs/chunk-queue.ts";
import { IdempotencyKeys } from "../../src/bulk/jobs/idempotency.ts";
import { Jobs } from "../../src/bulk/jobs/jobs.ts";
import { SessionStore } from "../../src/bulk/jobs/sessions.ts";
import { Credits } from "../../src/accounts/credits.ts";
import type { SqlDatabase } from "../../src/store/database.ts";
import { UsageLedger } from "../../src/accounts/admission/usage.ts";
import type { Account } from "../../src/accounts/accounts-store.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Ids } from "../../src/base/ids.ts";
import type { Log } from "../../src/base/log.ts";
import { openMigrated } from "../process/migrated-database.ts";
import { type ManualClock, manualClock } from "../time/manual-clock.ts";

/** Ids that count up, so that a test is readable and repeatable. */
export function countingIds(): Ids {
  let next = 0;
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => (next += 37) % 256),
    hex32: () => (next += 1).toString(16).padStart(32, "0"),
  };
}

export interface RecordingLog extends Log {
  /** "error quota.flush_failed", in order. */
  readonly lines: readonly string[];
}

export function recordingLog(): RecordingLog {
  const lines: string[] = [];
  return {
    lines,
    info: (event) => void lines.push(`info ${event}`),
    warn: (event) => void lines.push(`warn ${event}`),
    error: (event) => void lines.push(`error ${event}`),
  };
}

/** All stores of one process on an open database. */
export function storesOn<C extends Clock, L extends Log>(
  sql: SqlDatabase,
  given: { readonly clock: C; readonly log: L; readonly ids: Ids },
) {
  const { db } = sql;
  const usage = new UsageLedger(db);
  const counter = new MemoryQuotaCounter({ ledger: usage, ...given });
  const charges = new Charges({ db, counter, ids: given.ids });
  const deps = { db, charges, ids: given.ids };
  return {
    ...given,
    sql,
    usage,
    counter,
    charges,
    credits: new Credits(db, given),
    jobs: new Jobs(deps),
    chunks: new ChunkQueue(deps),
    sessions: new SessionStore(deps),
    idempotencyKeys: new IdempotencyKeys(deps),
  };
}

export type Stores = ReturnType<typeof storesOn<ManualClock, RecordingLog>>;

/** Opens an empty database. */
export type OpenSql = (nowMs: number) => Promise<SqlDatabase>;

/** The stores of one process on a data directory or a given database; by default a new one in memory. */
export async function openStores(
  t: TestContext,
  place: string | OpenSql = ":memory:",
): Promise<Stores> {
  const clock = manualClock();
  const nowMs = clock.nowMs();
  const sql = await (typeof place === "string" ? openMigrated(place, nowMs) : place(nowMs));
  t.after(() => sql.close());
  return storesOn(sql, { clock, log: recordingLog(), ids: countingIds() });
}

/** An account in the table, with a balance that its ledger explains. */
export async function addAccount(
  {
    sql,
    credits,
    clock,
  }: Pick<Stores, "sql" | "credits"> & { readonly clock: Pick<Clock, "nowMs"> },
  balance = 0,
  id = "a1",
  more: Partial<Account> = {},
): Promise<string> {
  await sql.db
    .insertInto("accounts")
    .values({
      id,
      email: `${id}@gatepost.example`,
      tier: more.tier ?? "free",
      origin: more.origin ?? "operator",
      admin: more.isAdmin === true ? 1 : 0,
      credit_balance: 0,
      credit_entries: 0,
      password_hash: null,
      disabled_at_ms: more.isDisabled === true ? clock.nowMs() : null,
      traffic_since: 1,
      decision_log: 0,
      created_at_ms: clock.nowMs(),
    })
    .execute();
  if (balance > 0) {
    await credits.grant(id, balance, "start");
  }
  return id;
}
