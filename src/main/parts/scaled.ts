import { openTicketQueue } from "../../adapters/bullmq/ticket-queue.ts";
import { openTickets } from "../../adapters/bullmq/tickets.ts";
import { memoryRateCounter } from "../../adapters/memory/rate-counter.ts";
import { UnsavedUnits } from "../../adapters/memory/unsaved-units.ts";
import { openRedis } from "../../adapters/redis/open-redis.ts";
import { sqlCharges } from "../../adapters/sql/admission/charges.ts";
import { sqlElections } from "../../adapters/sql/engine/elections.ts";
import { sqlKeys } from "../../adapters/sql/account/keys.ts";
import { openPostgres } from "../../adapters/sql/engine/postgres-database.ts";
import { sqlUsageLedger } from "../../adapters/sql/admission/usage-ledger.ts";
import { systemClock as clock } from "../../adapters/system/clock.ts";
import { systemIds as ids } from "../../adapters/system/ids.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Tickets } from "../../ports/bulk/tickets.ts";
import type { Backing } from "./backing.ts";
import type { BulkRunner } from "./bulk-runner.ts";
import { sharedListsOf } from "../feeds/shared-feeds.ts";
import { accountStore } from "./store.ts";

export interface ScaledUrls {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

export interface ScaledBacking extends Backing {
  /** For a worker of this name; closed by whoever takes them. */
  readonly openTickets: (worker: string) => Tickets;
}

/** Many processes: PostgreSQL holds everything, Redis the counters, notices and tickets. */
export async function openScaledBacking(
  { databaseUrl, redisUrl }: ScaledUrls,
  log: Log,
): Promise<ScaledBacking> {
  const sql = await openPostgres(databaseUrl, clock.nowMs());
  const { db } = sql;
  const usage = sqlUsageLedger(db);
  const journal = new UnsavedUnits({ ledger: usage, clock, log });
  const localRates = memoryRateCounter();
  const redis = await openRedis(redisUrl, { clock, log, ids, ledger: usage, journal, localRates });
  const { rates, quotas, requests, notices } = redis;
  const charges = sqlCharges({ db, counter: quotas, ids });
  return {
    where: "among_others",
    engine: "PostgreSQL, with Redis",
    store: accountStore(sql, notices),
    ledgers: { keys: sqlKeys(db), usage, quotas, charges },
    rates,
    requests,
    elections: sqlElections(db),
    sharedLists: sharedListsOf(db, notices),
    probes: new Map([
      ["database", () => sql.answers()],
      ["redis", () => redis.answers()],
    ]),
    startBulkRunner: () => ticketRunner(redisUrl, log),
    openTickets: (name) => openTickets(redisUrl, { clock, log, name }),
    async close() {
      // A database that is away takes with it what it did not take; the rest is closed all the same.
      await redis.close().catch((fault: unknown) => log.error("quota.flush_failed", fault));
      await sql.close();
    },
  };
}

/** Bulk jobs in worker processes, which see to their own lists. */
function ticketRunner(redisUrl: string, log: Log): BulkRunner {
  const queue = openTicketQueue(redisUrl, { clock, log });
  const nothing = (): void => undefined;
  return { queue, rouse: nothing, use: nothing, stop: () => queue.close() };
}
