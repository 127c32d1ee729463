import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { systemClock as clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { AllFigures } from "../../base/shares.ts";
import type { WorkerFigures } from "../../bulk/jobs/worker.ts";
import type { ServerAddress } from "../../dns/transport/system-resolvers.ts";
import type { SharedDatasets } from "../../lists/shared-datasets.ts";
import type { Disk } from "../../store/embedded/log-sync.ts";
import type { DnsFigures, VerdictTotals } from "../metrics.ts";

interface LogMessage {
  readonly kind: "log";
  readonly level: keyof Log;
  readonly line: readonly unknown[];
}

export function sendingLog(send: (message: LogMessage) => void): Log {
  const by =
    (level: keyof Log) =>
    (...line: readonly unknown[]): void =>
      send({ kind: "log", level, line });
  return { info: by("info"), warn: by("warn"), error: by("error") };
}

function writeLine(log: Log, { level, line }: LogMessage): void {
  (log[level] as (...line: readonly unknown[]) => void)(...line);
}

export interface BulkThreadSettings {
  readonly dataDir: string;
  readonly disk: Disk | undefined;
  /** The database that the process opened: a thread makes none. */
  readonly file: string | undefined;
  readonly dnsServers: readonly ServerAddress[] | undefined;
  readonly cacheMb?: number;
  readonly dnsCanaries: readonly string[] | undefined;
  readonly dnsCap: SharedArrayBuffer;
  readonly implicitMx: boolean;
  readonly datasets: SharedDatasets;
  readonly secretKey: Uint8Array;
}

export type BulkThreadOrder =
  | { readonly kind: "wake" | "stop" }
  | { readonly kind: "datasets"; readonly datasets: SharedDatasets };

export type BulkThreadReport =
  | LogMessage
  | { readonly kind: "completed" }
  | { readonly kind: "figures"; readonly figures: BulkFigures };

export interface BulkFigures {
  readonly dns: DnsFigures;
  readonly verdicts: VerdictTotals;
  readonly worker: WorkerFigures;
  readonly shares: AllFigures;
}

export interface BulkThreadDeps {
  readonly log: Log;
  readonly completed: () => void;
  readonly ended: () => void;
}

/** Before a thread that died is started again; its chunks' leases last longer. */
const RESTART_AFTER_MS = 1_000;

/** A thread that has not stopped by then is ended; its leases free its chunks. */
const STOP_WITHIN_MS = 10_000;

const LIVES_MS = 10_000;

/** Young: fewer collections of what is under way. Old: far from a limit, where it dies, yet small, where V8 grows slowly. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 24 };

function deathWatch() {
  let launchedMs = Infinity;
  let hasDied = false;
  return {
    launched: () => void (launchedMs = clock.monotonicMs()),
    died: () => {
      hasDied = true;
      launchedMs = Infinity;
    },
    isDown: () => (hasDied &&= clock.monotonicMs() - launchedMs < LIVES_MS),
  };
}

/** Restarted when it dies. It starts with the first that there is to do: single checks alone save 35 MB. */
export function startBulkThread(first: BulkThreadSettings, deps: BulkThreadDeps) {
  const { log, completed, ended } = deps;
  let settings = first;
  let worker: Worker | undefined;
  let figures: BulkFigures | undefined;
  let isStopping = false;
  let callOffRestart = (): void => undefined;
  const { isDown, launched: noteLaunch, died } = deathWatch();
  const send = (order: BulkThreadOrder): void => worker?.postMessage(order);
  const launch = (): Worker => {
    noteLaunch();
    const launched = new Worker(new URL("../bulk-worker.js", import.meta.url), {
      workerData: settings,
      resourceLimits: HEAP_LIMITS,
    });
    launched.on("message", (report: BulkThreadReport) => {
      if (report.kind === "log") writeLine(log, report);
      else if (report.kind === "figures") figures = report.figures;
      else completed();
    });
    launched.on("error", (fault) => {
      if (!isDown()) log.error("bulk.thread_failed", fault); // once for each outage
    });
    launched.on("exit", () => {
      ended();
      if (isStopping) return;
      died();
      callOffRestart = clock.after(RESTART_AFTER_MS, () => void (worker = launch()));
    });
    return launched;
  };
  return {
    wake(): void {
      if (!isStopping) worker ??= launch();
      send({ kind: "wake" });
    },
    use(datasets: SharedDatasets) {
      settings = { ...settings, datasets };
      send({ kind: "datasets", datasets });
    },
    figures: (): BulkFigures | undefined => figures,
    /** It died, and has not lived for ten seconds since. */
    isDown,
    async stop() {
      isStopping = true;
      callOffRestart();
      if (worker === undefined || worker.threadId === -1) return; // never woken, or dead and its restart called off
      const running = worker;
      const exited = once(running, "exit");
      send({ kind: "stop" });
      const callOff = clock.after(STOP_WITHIN_MS, () => void running.terminate());
      await exited;
      callOff();
    },
  };
}

export type BulkThread = ReturnType<typeof startBulkThread>;
