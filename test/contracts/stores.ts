import type { TestContext } from "node:test";
import { MemoryQuotaCounter } from "../../src/adapters/memory/quota-counter.ts";
import { type SqlCharges, sqlCharges } from "../../src/adapters/sql/charges.ts";
import { sqlCredits } from "../../src/adapters/sql/credits.ts";
import { openEmbedded, type SqlDatabase } from "../../src/adapters/sql/database.ts";
import { sqlUsageLedger } from "../../src/adapters/sql/usage-ledger.ts";
import type { Credits } from "../../src/ports/credits.ts";
import type { Ids } from "../../src/ports/ids.ts";
import type { Log } from "../../src/ports/log.ts";
import type { UsageLedger } from "../../src/ports/usage.ts";
import { type ManualClock, manualClock } from "../manual-clock.ts";

/** Ids that count up, so that a test can be read and run again. */
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

/** Everything that stands on one open database. */
export interface Stores {
  readonly sql: SqlDatabase;
  readonly clock: ManualClock;
  readonly log: RecordingLog;
  readonly ids: Ids;
  readonly usage: UsageLedger;
  readonly counter: MemoryQuotaCounter;
  readonly charges: SqlCharges;
  readonly credits: Credits;
}

/** The stores of one process on a data directory; a new one in memory unless told. */
export async function openStores(t: TestContext, dataDir = ":memory:"): Promise<Stores> {
  const clock = manualClock();
  const sql = await openEmbedded(dataDir, clock.nowMs());
  t.after(() => sql.close());
  const log = recordingLog();
  const ids = countingIds();
  const usage = sqlUsageLedger(sql.db);
  const counter = new MemoryQuotaCounter({ ledger: usage, clock, log });
  const charges = sqlCharges({ db: sql.db, counter, ids });
  return { sql, clock, log, ids, usage, counter, charges, credits: sqlCredits(sql.db) };
}

/** An account in the table, with a balance that its ledger explains. */
export async function addAccount({ sql, credits, clock }: Stores, balance = 0, id = "a1") {
  await sql.db
    .insertInto("accounts")
    .values({
      id,
      email: `${id}@gatepost.example`,
      tier: "free",
      origin: "operator",
      admin: 0,
      credit_balance: 0,
      credit_entries: 0,
      password_hash: null,
      disabled_at_ms: null,
      created_at_ms: clock.nowMs(),
    })
    .execute();
  if (balance > 0) {
    const nowMs = clock.nowMs();
    await credits.grant({ accountId: id, amount: balance, reference: "start", nowMs });
  }
  return id;
}
