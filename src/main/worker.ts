import { sqlChunkQueue } from "../adapters/sql/bulk/chunk-queue.ts";
import { sqlJobs } from "../adapters/sql/bulk/jobs.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemIds as ids } from "../adapters/system/ids.ts";
import { createReadiness } from "../http/system/readiness.ts";
import { buildWorkerApp } from "../http/app/worker-app.ts";
import { type Checkpoint, passThrough } from "../ports/bulk/checkpoint.ts";
import { inTime } from "../ports/process/in-time.ts";
import { announcer } from "../service/bulk/announce.ts";
import { keepJobs } from "../service/bulk/keep-house.ts";
import type { End } from "../service/upkeep/elected.ts";
import { type BulkWorker, bulkWorker } from "../service/bulk/worker.ts";
import { type BulkChecker, openBulkChecker } from "./parts/bulk-checker.ts";
import type { Config } from "./settings/config.ts";
import { startDuties } from "./feeds/duties.ts";
import { watchDns } from "./metrics/dns-metrics.ts";
import { housekeepingDuty } from "./parts/housekeeping.ts";
import { sessionsDuty } from "./parts/sessions-duty.ts";
import { watchStores } from "./metrics/store-metrics.ts";
import { createListener, DEFAULT_LIMITS, listen, type Listening } from "./process/listen.ts";
import { watchProgram } from "./metrics/program-metrics.ts";
import { programVersion } from "./process/program-version.ts";
import { closeParts, openParts, type WorkerParts } from "./parts/worker-parts.ts";
import { watchWorker } from "./metrics/worker-metrics.ts";

export interface RunningWorker {
  /** Its own, new with each start; in logs, metrics and leases. */
  readonly name: string;
  /** Where it shows its state; undefined without GATEPOST_WORKER_PORT. */
  readonly url: string | undefined;
  /** Hands chunks back at once, lets webhooks under way end, closes everything; within 30 s. */
  stop(): Promise<void>;
}

/** For tests and benches. */
export interface WorkerOptions {
  readonly checkpoint?: Checkpoint;
  /** First tries of DNS questions under way at once, at most; by the servers' place unless given. */
  readonly dnsWindowMax?: number;
  /** `database`: without tickets, as while Redis is away. */
  readonly feed?: "tickets" | "database";
}

/**
 * Longer than a webhook may take, and well within what a stop may. A store that is away may keep its part of the
 * stop waiting: what is not handed back ends with its lease.
 */
const STOP_LIMIT = { timeoutMs: 25_000, late: undefined, clock };

/** A process of the scale-out that works off bulk jobs and sends webhooks; rejects with one clear sentence. */
export async function startWorker(
  config: Config,
  options: WorkerOptions = {},
): Promise<RunningWorker> {
  const parts = await openParts(config);
  const { log, name, lists, webhooks, metrics, backing } = parts;
  const bulk = openBulkChecker(config, lists.datasets, {
    observe: lists.observe,
    windowMax: options.dnsWindowMax,
  });
  const { worker, stopKeeping } = startWork(parts, bulk, options);
  watchWorker(metrics.registry, name, worker);
  watchShared(parts);
  watchDns(metrics.registry, bulk);
  await webhooks.dispatcher.start("among_others");
  lists.start();
  const duties = startDuties(
    { housekeeping: housekeepingDuty(parts), ...sessionsDuty(backing, log) },
    { elections: backing.elections, candidate: name, log },
  );
  const listening = await show(parts, bulk);
  worker.start();
  log.info("worker.started", { worker: name, database: backing.engine });
  const stop = async (): Promise<void> => {
    await worker.stop().catch((fault: unknown) => log.error("bulk.stop_failed", fault));
    log.info("worker.handed_back", { worker: name, ...worker.figures() });
    await Promise.all([stopKeeping(), duties.stop()]);
    await listening?.stop();
    bulk.close();
    await closeParts(parts);
  };
  return { name, url: listening?.url, stop: () => inTime(stop(), STOP_LIMIT) };
}

/** What every process of the scale-out shows. */
function watchShared({ metrics: { registry }, backing }: WorkerParts): void {
  watchProgram(registry, programVersion());
  watchStores(registry, backing);
}

interface Work {
  readonly worker: BulkWorker;
  readonly stopKeeping: End;
}

/** The worker, not started, and what sees to jobs that are stuck or untold. */
function startWork(
  parts: WorkerParts,
  bulk: BulkChecker,
  { checkpoint = passThrough, feed = "tickets" }: WorkerOptions,
): Work {
  const { log, name, backing, lists, webhooks } = parts;
  const { db } = backing.store.sql;
  const jobs = sqlJobs({ db, charges: backing.ledgers.charges, ids, checkpoint });
  const announce = announcer({
    jobs,
    clock,
    log,
    checkpoint,
    onCompleted: async ({ owner, stats }) => {
      if (owner.kind === "account") await webhooks.announce(owner.accountId, stats);
    },
  });
  const worker = bulkWorker({
    check: bulk.check,
    room: bulk.room,
    dnsAnswers: bulk.dnsAnswers,
    ownEvidence: lists.ownEvidence,
    chunks: sqlChunkQueue({ db, checkpoint }),
    ...(feed === "tickets" && { tickets: backing.openTickets(name) }),
    name,
    checkpoint,
    clock,
    log,
    completed: () => void announce(),
  });
  return { worker, stopKeeping: keepJobs({ jobs, announce, clock, log }) };
}

/** Listens where the operator looks, if anywhere. */
async function show(parts: WorkerParts, bulk: BulkChecker): Promise<Listening | undefined> {
  const { config, log, metrics, backing } = parts;
  if (config.workerPort === undefined) return undefined;
  const probes = new Map([...backing.probes, ["dns", () => bulk.dnsAnswers()] as const]);
  const limits = { ...DEFAULT_LIMITS, maxConnections: config.maxConnections };
  const app = buildWorkerApp({
    log,
    readiness: createReadiness(probes, clock),
    metrics: metrics.http,
    metricsPage: metrics.page,
    metricsToken: config.metricsToken,
    listener: createListener(limits),
  });
  return listen(app, { host: config.host, port: config.workerPort }, limits);
}
