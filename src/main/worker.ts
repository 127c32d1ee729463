import { announcer } from "../bulk/jobs/announce.ts";
import { keepJobs } from "../bulk/jobs/housekeeping.ts";
import { buildWorkerApp } from "../http/app.ts";
import { createHostHeaderCheck } from "../http/hosts.ts";
import { DEFAULT_LIMITS } from "../http/server.ts";
import { type BulkChecker, openWork } from "./bulk.ts";
import { openHealth } from "./health.ts";
import { DNS, HEALTH, eventCounter, VERDICTS, watch, WORKER } from "./metrics.ts";
import { type Machine, openProcess, type Process, systemMachine } from "./process.ts";
import { openServing, type Serving, startUpkeep } from "./serving.ts";
import type { Config } from "./settings/config.ts";
import { openWebhooks } from "./webhooks.ts";
import { inTime } from "../base/clock.ts";

/** Longer than a webhook may take, and well within what a stop may; what is not handed back ends with its lease. */
const STOP_LIMIT_MS = 25_000;

/** A process of the scale-out that works off bulk jobs and sends webhooks; rejects with one clear sentence. */
export async function startWorker(config: Config, machine: Machine = systemMachine) {
  if (config.databaseUrl === undefined) {
    throw new Error(
      "`gatepost worker` needs DATABASE_URL; without it, `gatepost serve` runs bulk jobs itself",
    );
  }
  const { name, url, close } = await openProcess(config, { machine }, openWorker);
  const limit = { timeoutMs: STOP_LIMIT_MS, late: undefined, clock: machine.clock };
  /** `stop` hands chunks back at once, lets webhooks under way end, closes everything; within 30 s. */
  return { name, url, stop: () => inTime(close(), limit) };
}

async function openWorker(process: Process) {
  const { clock, name, closing, log } = process;
  const serving = await openServing(process, "interactive");
  const { lists, metrics, secretKey, dns, backing, trust, shares } = serving;
  const { registry } = metrics;
  const { sql, notices } = backing.store;
  const webhooks = openWebhooks(process, {
    sql,
    secretKey,
    addresses: dns.everyAddress,
    counted: eventCounter(registry, "webhooks"),
  });
  const { jobs } = backing;
  const { announcement } = webhooks.dispatcher;
  const { announce, stop } = announcer({ jobs, clock, log, announcement });
  closing.add(stop);
  closing.add(keepJobs({ jobs, clock, log }));
  const { checks, worker } = openWork(process, {
    datasets: lists.datasets,
    recorder: lists.recorder,
    trust,
    db: sql.db,
    shares,
    isWatched: true,
    completed: () => void announce(),
  });
  closing.add(notices.hear("jobs", () => worker.wake()));
  watch(registry, WORKER, () => worker.figures());
  const learning = () => ({ clients: { learning: dns.stats() }, trust: undefined });
  watch(registry, DNS, () => [checks.dnsFigures(), learning()]);
  watch(registry, VERDICTS, () => ({ bulk: checks.verdicts() }));
  await webhooks.dispatcher.start("among_others");
  closing.add(notices.hear("webhooks", () => webhooks.dispatcher.wake()));
  startUpkeep(process, serving, {});
  const url = await show(process, serving, checks);
  closing.add(async () => {
    await worker.stop().catch((fault: unknown) => log.error("bulk.stop_failed", fault));
    log.info("worker.chunks_returned", { worker: name, ...worker.figures() });
  });
  worker.start();
  log.info("worker.started", { worker: name, database: backing.engine });
  return { name, url };
}

async function show(
  process: Process,
  serving: Serving,
  { dnsAnswers, dnsFigures }: BulkChecker,
): Promise<string | undefined> {
  const { config, machine, clock, log, closing } = process;
  const { metrics } = serving;
  const probes = { dnsAnswers, dnsFigures: () => [dnsFigures()], listThread: undefined };
  const health = openHealth(process, { ...serving, ...probes });
  watch(metrics.registry, HEALTH, () => health.state());
  if (config.workerPort === undefined) return undefined;
  const app = buildWorkerApp({
    clock,
    log,
    broken: () => health.now(),
    metrics: metrics.http,
    metricsPage: metrics.page,
    metricsToken: config.metricsToken,
    isHostAllowed: createHostHeaderCheck({
      allowed: config.allowedHosts,
      publicUrl: () => config.publicUrl ?? "http://localhost",
      hasPublicUrl: config.publicUrl !== undefined,
      listensOn: config.host,
    }),
  });
  const address = { host: config.host, port: config.workerPort };
  const { url, stop } = await machine.listen(app, address, { limits: DEFAULT_LIMITS });
  closing.add(stop);
  return url;
}
