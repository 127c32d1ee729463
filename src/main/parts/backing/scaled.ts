import { memoryRateCounter } from "../../../adapters/memory/rate-counter.ts";
import { UnsavedUnits } from "../../../adapters/memory/unsaved-units.ts";
import { sqlCharges } from "../../../adapters/sql/admission/charges.ts";
import type { SqlDatabase } from "../../../adapters/sql/engine/database.ts";
import { DatabaseFault } from "../../../adapters/sql/engine/database-fault.ts";
import { sqlElections } from "../../../adapters/sql/engine/elections.ts";
import { sqlKeys } from "../../../adapters/sql/account/keys.ts";
import { sqlUsageLedger } from "../../../adapters/sql/admission/usage-ledger.ts";
import type { Process } from "../../process/open-process.ts";
import { askedRarely } from "../../../http/system/readiness.ts";
import { type Backing, DATABASE_PROBE_MS } from "./backing.ts";
import type { BulkRunner } from "./bulk-runner.ts";
import { sharedListsOf } from "../../feeds/shared-feeds.ts";
import { accountStore } from "./store.ts";

export interface ScaledUrls {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** Many processes: PostgreSQL holds everything, Redis the counters, notices and tickets. */
export async function openScaledBacking(
  { databaseUrl, redisUrl }: ScaledUrls,
  process: Process,
): Promise<Backing> {
  const { machine, clock, ids, log, closing } = process;
  const sql = await openWhenThere(databaseUrl, process);
  closing.add(() => sql.close());
  const { db } = sql;
  const usage = sqlUsageLedger(db);
  const journal = new UnsavedUnits({ ledger: usage, clock, log });
  const localRates = memoryRateCounter();
  const linkDeps = { clock, log, ids, ledger: usage, journal, localRates };
  const redis = await machine.openRedis(redisUrl, linkDeps);
  // A database that is away takes with it what it did not take; the rest is closed all the same.
  closing.add(() =>
    redis.close().catch((fault: unknown) => log.error("quota.flush_failed", fault)),
  );
  const { rates, quotas, requests, notices } = redis;
  const charges = sqlCharges({ db, counter: quotas, ids });
  return {
    where: "among_others",
    engine: "PostgreSQL, with Redis",
    store: accountStore(sql, process, notices),
    ledgers: { keys: sqlKeys(db), usage, quotas, charges },
    rates,
    requests,
    elections: sqlElections(db),
    sharedLists: sharedListsOf(db, notices),
    probes: new Map([
      ["database", askedRarely(() => sql.answers(), DATABASE_PROBE_MS, clock)],
      ["redis", () => redis.answers()],
    ]),
    startBulkRunner: () => ticketRunner(redisUrl, process),
    openTickets: (name) => machine.openTickets(redisUrl, { clock, log, name }),
  };
}

const DATABASE_WAIT_MS = 60_000;
const DATABASE_PAUSE_MS = 1_000;

/** PostgreSQL may be starting beside this process: it is waited for up to 60 s, with one line in the log. */
async function openWhenThere(
  url: string,
  { machine, clock, log }: Pick<Process, "machine" | "clock" | "log">,
): Promise<SqlDatabase> {
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

/** Bulk jobs in worker processes, which look after their own lists. */
async function ticketRunner(
  redisUrl: string,
  { machine, clock, log }: Process,
): Promise<BulkRunner> {
  const queue = await machine.openTicketQueue(redisUrl, { clock, log });
  const nothing = (): void => undefined;
  return { queue, rouse: nothing, use: nothing, stop: () => queue.close() };
}
