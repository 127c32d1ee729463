import type { SharedDatasets } from "../adapters/lists/shared-datasets.ts";
import type { SqlCharges } from "../adapters/sql/charges.ts";
import type { SqlDatabase } from "../adapters/sql/database.ts";
import { sqlJobs } from "../adapters/sql/jobs.ts";
import { sqlRetryKeys } from "../adapters/sql/retry-keys.ts";
import { sqlSessionStore } from "../adapters/sql/session-store.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemIds as ids } from "../adapters/system/ids.ts";
import { passThrough as checkpoint } from "../ports/checkpoint.ts";
import type { Log } from "../ports/log.ts";
import type { Queue } from "../ports/queue.ts";
import { CORE_BUDGET_MS } from "../service/bounded-lookup.ts";
import { announcer, type OnCompleted } from "../service/bulk/announce.ts";
import type { BulkService } from "../service/bulk/bulk.ts";
import { coreJudge } from "../service/bulk/core-judge.ts";
import { createBulk } from "../service/bulk/create-bulk.ts";
import { keepJobs } from "../service/bulk/keep-house.ts";
import { BUFFER_MAX_ENTRIES } from "../service/bulk/submit.ts";
import type { Gate } from "../service/gate.ts";
import type { Tiers } from "../service/tiers.ts";
import { startBulkThread } from "./bulk-thread.ts";
import type { Checker } from "./checker.ts";
import type { Config } from "./config.ts";
import { threadSplitter } from "./splitter.ts";

export interface OpenBulkDeps {
  readonly sql: SqlDatabase;
  readonly charges: SqlCharges;
  readonly gate: Pick<Gate, "terms" | "receipt">;
  readonly tiers: Tiers;
  readonly checker: Pick<Checker, "datasets" | "lookup">;
  /** What `checker.datasets` is attached to. */
  readonly datasets: SharedDatasets;
  readonly secretKey: Uint8Array;
  readonly log: Log;
  readonly onCompleted: OnCompleted;
}

export interface OpenBulk {
  readonly service: BulkService;
  /** The lists were refreshed. */
  readonly use: (datasets: SharedDatasets) => void;
  /** Hands jobs back; to be called before the database is closed. */
  readonly stop: () => Promise<void>;
}

type BulkConfig = Pick<Config, "dataDir" | "dnsServers" | "implicitMx" | "syncBudgetMs">;

/** Bulk validation in the embedded mode: the service here, its worker in a thread. */
export function openBulk(config: BulkConfig, deps: OpenBulkDeps): OpenBulk {
  const { sql, charges, gate, tiers, checker, log, onCompleted } = deps;
  const { dataDir, dnsServers, implicitMx, syncBudgetMs } = config;
  const stores = { db: sql.db, charges, ids, checkpoint };
  const jobs = sqlJobs(stores);
  const announce = announcer({ jobs, clock, log, onCompleted, checkpoint });
  const completed = (): void => void announce();
  const thread = startBulkThread(
    { dataDir, dnsServers, implicitMx, datasets: deps.datasets, secretKey: deps.secretKey },
    { log, completed },
  );
  const queue: Queue = { wake: () => Promise.resolve(thread.wake()) };
  const splitter = threadSplitter();
  const { datasets, lookup } = checker;
  const judge = { datasets, lookup, again: lookup, clock, implicitMx };
  const budgets = { budgetMs: CORE_BUDGET_MS, againBudgetMs: CORE_BUDGET_MS };
  const service = createBulk({
    jobs,
    sessions: sqlSessionStore(stores),
    retryKeys: sqlRetryKeys(stores),
    queue,
    split: splitter.split,
    judge: coreJudge({ ...judge, ...budgets }),
    gate,
    tiers,
    clock,
    ids,
    log,
    syncBudgetMs,
    bufferMax: BUFFER_MAX_ENTRIES,
    completed,
  });
  const stopKeeping = keepJobs({ jobs, announce, clock, log });
  return {
    service,
    use: (fresh) => thread.use(fresh),
    async stop() {
      stopKeeping();
      await thread.stop();
      await splitter.close();
    },
  };
}
