import { UnsavedUnits } from "../../../accounts/admission/unsaved-units.ts";
import { sqlCharges } from "../../../accounts/admission/charges.ts";
import { DatabaseFault } from "../../../store/database-fault.ts";
import { sharedCounters } from "../../../accounts/admission/shared-counters.ts";
import { inTime } from "../../../base/in-time.ts";
import type { PostgresDatabase } from "../../../store/postgres-database.ts";
import { sqlKeys } from "../../../accounts/keys.ts";
import { sqlUsageLedger } from "../../../accounts/admission/usage.ts";
import type { Process } from "../../process/open-process.ts";
import { askedRarely } from "../../../http/system/readiness.ts";
import { type Backing, DATABASE_PROBE_MS } from "./backing.ts";
import type { BulkRunner } from "./bulk-runner.ts";
import { accountStore } from "./store.ts";

/** How long a start waits for the session that hears notices. */
const LISTENS_WITHIN_MS = 1_000;

/** Many processes: PostgreSQL holds everything and tells them of changes. */
export async function openScaledBacking(databaseUrl: string, process: Process): Promise<Backing> {
  const { clock, ids, log, closing } = process;
  const sql = await openWhenThere(databaseUrl, process);
  closing.add(() => sql.close());
  const { db, counting, patient } = sql;
  const session = sql.openSession({ clock, log });
  closing.add(() => session.close());
  const { notices, elections, listens } = session;
  const usage = sqlUsageLedger(db);
  const journal = new UnsavedUnits({ ledger: usage, clock, log });
  // A database that is away takes with it what it did not take; the rest is closed all the same.
  closing.add(() =>
    journal.flush().catch((fault: unknown) => log.error("quota.flush_failed", fault)),
  );
  const shared = sharedCounters({ counting, patient, ledger: usage, journal, clock });
  const { rates, quotas, requests } = shared;
  const charges = sqlCharges({ db, shared, ids });
  await inTime(listens, { timeoutMs: LISTENS_WITHIN_MS, late: undefined, clock });
  return {
    where: "among_others",
    engine: "PostgreSQL",
    store: accountStore(sql, process, notices),
    ledgers: { keys: sqlKeys(db), usage, quotas, charges },
    rates,
    requests,
    elections,
    probes: new Map([["database", askedRarely(() => sql.answers(), DATABASE_PROBE_MS, clock)]]),
    startBulkRunner: () => WORKERS,
  };
}

/** Bulk jobs in worker processes, which are told of a job in its transaction and look after their own lists. */
const WORKERS: BulkRunner = {
  wake: () => undefined,
  rouse: () => undefined,
  use: () => undefined,
  stop: () => Promise.resolve(),
};

const DATABASE_WAIT_MS = 60_000;
const DATABASE_PAUSE_MS = 1_000;

/** PostgreSQL may be starting beside this process: it is waited for up to 60 s, with one line in the log. */
async function openWhenThere(
  url: string,
  { machine, clock, log }: Pick<Process, "machine" | "clock" | "log">,
): Promise<PostgresDatabase> {
  const untilMs = clock.monotonicMs() + DATABASE_WAIT_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await machine.openPostgres(url, clock.nowMs());
    } catch (fault) {
      const isAway = fault instanceof DatabaseFault && fault.code === "unreachable";
      if (!isAway || clock.monotonicMs() >= untilMs) throw fault;
      if (tries === 1) log.warn("start.waiting_for_database", { why: fault.message });
    }
    await new Promise<void>((resolve) => void clock.after(DATABASE_PAUSE_MS, resolve));
  }
}
