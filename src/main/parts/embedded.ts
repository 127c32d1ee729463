import { memoryElections } from "../../adapters/memory/elections.ts";
import { MemoryQuotaCounter } from "../../adapters/memory/quota-counter.ts";
import { memoryRateCounter } from "../../adapters/memory/rate-counter.ts";
import { sqlCharges } from "../../adapters/sql/admission/charges.ts";
import { openEmbedded } from "../../adapters/sql/engine/database.ts";
import { sqlKeys } from "../../adapters/sql/account/keys.ts";
import { lockForServing } from "../../adapters/sql/engine/serving-lock.ts";
import { engineName } from "../../adapters/sql/engine/sqlite.ts";
import { sqlUsageLedger } from "../../adapters/sql/admission/usage-ledger.ts";
import { systemClock as clock } from "../../adapters/system/clock.ts";
import { systemIds as ids } from "../../adapters/system/ids.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Backing } from "./backing.ts";
import { type BulkRunner, type BulkRunnerParts } from "./bulk-runner.ts";
import { startBulkThread } from "../threads/bulk-thread.ts";
import type { Config } from "../settings/config.ts";
import { accountStore } from "./store.ts";

type EmbeddedConfig = Pick<Config, "dataDir" | "dnsServers" | "implicitMx">;

/** One process: SQLite in the data directory, counters in memory, bulk jobs in a thread. */
export async function openEmbeddedBacking(config: EmbeddedConfig, log: Log): Promise<Backing> {
  const sql = await openEmbedded(config.dataDir, clock.nowMs());
  const unlock = lockForServing(config.dataDir);
  const { db } = sql;
  const usage = sqlUsageLedger(db);
  const quotas = new MemoryQuotaCounter({ ledger: usage, clock, log });
  const charges = sqlCharges({ db, counter: quotas, ids });
  return {
    where: "alone",
    engine: `embedded, by ${engineName}`,
    store: accountStore(sql),
    ledgers: { keys: sqlKeys(db), usage, quotas, charges },
    rates: memoryRateCounter(),
    requests: undefined,
    elections: memoryElections(),
    sharedLists: undefined,
    probes: new Map([["database", () => sql.answers()]]),
    startBulkRunner: (parts) => threadRunner(config, parts),
    async close() {
      await quotas.flush().catch((fault: unknown) => log.error("quota.flush_failed", fault));
      await sql.close();
      unlock();
    },
  };
}

/** Bulk jobs in a thread of this process. */
export function threadRunner(config: EmbeddedConfig, parts: BulkRunnerParts): BulkRunner {
  const { dataDir, dnsServers, implicitMx } = config;
  const { datasets, secretKey, log, completed } = parts;
  const settings = { dataDir, dnsServers, implicitMx, datasets, secretKey };
  const thread = startBulkThread(settings, { log, completed });
  return {
    queue: { wake: () => Promise.resolve(thread.wake()) },
    rouse: () => thread.rouse(),
    use: (fresh) => thread.use(fresh),
    stop: () => thread.stop(),
  };
}
