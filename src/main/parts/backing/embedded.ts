import { alone } from "../../../store/elections.ts";
import { MemoryQuotaCounter } from "../../../accounts/admission/memory-quota-counter.ts";
import { memoryRateCounter } from "../../../accounts/admission/rate-counter.ts";
import { sqlCharges } from "../../../accounts/admission/charges.ts";
import { sqlKeys } from "../../../accounts/keys.ts";
import { engineName } from "../../../store/embedded/sqlite.ts";
import { sqlUsageLedger } from "../../../accounts/admission/usage.ts";
import type { Machine } from "../../process/machine.ts";
import type { Process } from "../../process/open-process.ts";
import { askedRarely } from "../../../http/system/readiness.ts";
import { type Backing, DATABASE_PROBE_MS } from "./backing.ts";
import type { BulkRunner, BulkRunnerParts } from "./bulk-runner.ts";
import type { BulkFigures } from "../../threads/bulk-thread.ts";
import { dnsCap } from "../dns.ts";
import type { Config } from "../../settings/config.ts";
import { accountStore } from "./store.ts";

/** One process: SQLite in the data directory, counters in memory, bulk jobs in a thread. */
export async function openEmbeddedBacking(process: Process): Promise<Backing> {
  const { config, machine, clock, ids, log, closing } = process;
  const { dataDir } = config;
  const sql = await machine.openSqlite(dataDir, clock.nowMs());
  closing.add(() => sql.close());
  closing.add(machine.lockForServing(dataDir));
  const { db } = sql;
  const usage = sqlUsageLedger(db);
  const quotas = new MemoryQuotaCounter({ ledger: usage, clock, log });
  closing.add(() =>
    quotas.flush().catch((fault: unknown) => log.error("quota.flush_failed", fault)),
  );
  const charges = sqlCharges({ db, counter: quotas, ids });
  return {
    where: "alone",
    engine: `embedded, by ${engineName}`,
    store: accountStore(sql, process),
    ledgers: { keys: sqlKeys(db), usage, quotas, charges },
    rates: memoryRateCounter(),
    requests: undefined,
    elections: alone,
    probes: new Map([["database", askedRarely(() => sql.answers(), DATABASE_PROBE_MS, clock)]]),
    startBulkRunner: (parts) => threadRunner(config, parts, machine),
  };
}

type RunnerConfig = Pick<Config, "dataDir" | "dnsServers" | "dnsCanaries" | "implicitMx"> &
  Partial<Pick<Config, "cacheMb">>;

/** Bulk jobs in a thread of this process. */
export function threadRunner(
  config: RunnerConfig,
  parts: BulkRunnerParts,
  machine: Machine,
): BulkRunner {
  const { dataDir, dnsServers, dnsCanaries, implicitMx, cacheMb } = config;
  const { datasets, secretKey, log, completed } = parts;
  const cap = dnsCap(config, machine);
  const caches = cacheMb === undefined ? {} : { cacheMb };
  const dns = { dnsServers, dnsCanaries, dnsCap: cap.memory, ...caches };
  const settings = { dataDir, ...dns, implicitMx, datasets, secretKey };
  const ended = (): void => cap.clearOther();
  let latest: BulkFigures | undefined;
  const figures = (fresh: BulkFigures): void => void (latest = fresh);
  const thread = machine.startBulkThread(settings, { log, completed, ended, figures });
  return {
    wake: () => thread.wake(),
    rouse: () => thread.rouse(),
    use: (fresh) => thread.use(fresh),
    figures: () => latest,
    stop: () => thread.stop(),
  };
}
