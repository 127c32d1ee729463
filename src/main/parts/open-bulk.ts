import type { SharedDatasets } from "../../lists/shared-datasets.ts";
import type { SqlCharges } from "../../accounts/admission/charges.ts";
import type { SqlDatabase } from "../../store/database.ts";
import { sqlJobs } from "../../bulk/jobs.ts";
import { holdsSessions, sqlSessionStore } from "../../bulk/sessions.ts";
import { sqlIdempotencyKeys } from "../../bulk/idempotency.ts";
import { CORE_BUDGET_MS } from "../../check/bounded-lookup.ts";
import { announcer, type OnCompleted } from "../../bulk/announce.ts";
import type { BulkService, Splitter } from "../../bulk/bulk.ts";
import type { Shares } from "../../base/shares.ts";
import { Lists } from "../../bulk/lists.ts";
import { coreEntryCheck } from "../../bulk/worker/core-entry-check.ts";
import { BUFFER_MAX_ENTRIES, createBulk } from "../../bulk/submit.ts";
import { keepJobs } from "../../bulk/keep-house.ts";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { Tiers } from "../../accounts/admission/tiers.ts";
import type { BulkRunner, BulkRunnerParts } from "./backing/bulk-runner.ts";
import type { Checker } from "./checker.ts";
import type { Config } from "../settings/config.ts";
import type { OwnTraffic } from "../feeds/own-traffic.ts";
import type { Process } from "../process/open-process.ts";

export interface OpenBulkDeps {
  readonly sql: SqlDatabase;
  readonly charges: SqlCharges;
  readonly admission: Pick<Admission, "terms" | "receipt">;
  readonly tiers: Tiers;
  readonly checker: Pick<Checker, "datasets" | "lookup">;
  /** What batches that are checked here leave behind. */
  readonly traffic: Pick<OwnTraffic, "observe">;
  /** What `checker.datasets` is attached to. */
  readonly datasets: SharedDatasets;
  readonly secretKey: Uint8Array;
  readonly onCompleted: OnCompleted;
  readonly shares: Pick<Shares, "of" | "include">;
  readonly split: Splitter;
  readonly startRunner: (parts: BulkRunnerParts) => BulkRunner;
  /** For tests. */
  /** Whether workers elsewhere see to jobs that are stuck. */
  readonly where: "alone" | "among_others";
}

export interface OpenBulk {
  readonly service: BulkService;
  /** Lists of the dashboard. */
  readonly lists: Lists;
  /** The lists were refreshed. */
  readonly use: (datasets: SharedDatasets) => void;
  /** Of this process's own worker; absent where workers are elsewhere. */
  readonly figures: BulkRunner["figures"];
}

/** What of a process bulk needs. */
export interface BulkProcess extends Pick<Process, "clock" | "ids" | "log" | "closing"> {
  readonly config: Pick<Config, "implicitMx" | "syncBudgetMs">;
}

/** Bulk validation: the service here, its worker where the runner has it. Closing hands jobs back. */
export async function openBulk(process: BulkProcess, deps: OpenBulkDeps): Promise<OpenBulk> {
  const { clock, ids, log, closing } = process;
  const { sql, charges, admission, tiers, checker, onCompleted } = deps;
  const { implicitMx, syncBudgetMs } = process.config;
  const stores = { db: sql.db, charges, ids };
  const jobs = sqlJobs(stores);
  const { announce, stop } = announcer({ jobs, clock, log, onCompleted });
  closing.add(stop);
  const runner = deps.startRunner({ ...deps, log, completed: () => void announce() });
  closing.add(() => runner.stop());
  deps.shares.include(() => runner.figures?.()?.shares);
  const completed = (): void => {
    runner.rouse(); // the session has an end
    void announce();
  };
  const { datasets, lookup } = checker;
  const { observe } = deps.traffic;
  const check = { datasets, lookup, again: lookup, clock, implicitMx, observe };
  const budgets = { budgetMs: CORE_BUDGET_MS, againBudgetMs: CORE_BUDGET_MS };
  const idempotencyKeys = sqlIdempotencyKeys(stores);
  if (deps.where === "alone") await idempotencyKeys.releaseAll();
  const sessions = sqlSessionStore(stores);
  const service = createBulk({
    where: deps.where,
    jobs,
    sessions,
    idempotencyKeys,
    wake: () => runner.wake(),
    split: deps.split,
    shares: deps.shares,
    check: coreEntryCheck({ ...check, ...budgets }),
    admission,
    tiers,
    clock,
    ids,
    log,
    syncBudgetMs,
    bufferMax: BUFFER_MAX_ENTRIES,
    completed,
  });
  rouseForKept(sql, runner, log);
  if (deps.where === "alone") closing.add(keepJobs({ jobs, announce, clock, log }));
  const rouse = (): void => runner.rouse();
  const { shares } = deps;
  const lists = new Lists({ ...stores, sessions, jobs, bulk: service, shares, clock, rouse });
  closing.add(() => Promise.resolve(lists.close()));
  return {
    service,
    lists,
    use: (fresh) => runner.use(fresh),
    figures: runner.figures,
  };
}

/** For jobs and sessions of before this start. */
function rouseForKept({ db }: SqlDatabase, runner: BulkRunner, log: Process["log"]): void {
  holdsSessions(db).then(
    (isHeld) => {
      if (isHeld) runner.rouse();
    },
    (fault: unknown) => {
      log.error("bulk.lookup_failed", fault);
      runner.rouse();
    },
  );
}
