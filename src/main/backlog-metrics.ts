import { Gauge, type Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import { type Backlog, readBacklog } from "../bulk/backlog.ts";
import type { Backing } from "./store.ts";

interface BacklogMetricsDeps {
  readonly registry: Registry;
  readonly clock: Clock;
  /** Whether the database takes writes. */
  readonly answers: () => Promise<boolean>;
  readonly read: () => Promise<Backlog>;
}

/** A scrape waits no longer for the database. */
const READ_WITHIN_MS = 2_000;

interface Reading {
  readonly backlog: Backlog | undefined;
  readonly isUp: boolean;
  readonly tookMs: number;
}

interface Figure {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly values: (reading: Reading) => Readonly<Record<string, number>>;
}

const one = (value: number | undefined): Readonly<Record<string, number>> =>
  value === undefined ? {} : { "": value };

const FIGURES: readonly Figure[] = [
  {
    name: "gatepost_database_up",
    help: "1 when the database answered this scrape within 2 s and takes writes.",
    values: ({ isUp }) => one(isUp ? 1 : 0),
  },
  {
    name: "gatepost_database_answer_seconds",
    help: "Time of this scrape's four questions to the database, at most 2 s.",
    values: ({ tookMs }) => one(tookMs / 1_000),
  },
  {
    name: "gatepost_jobs",
    help: "Running jobs by state, of all processes.",
    label: "state",
    values: ({ backlog }) =>
      backlog === undefined
        ? {}
        : { pending: backlog.pendingJobs, processing: backlog.processingJobs },
  },
  {
    name: "gatepost_oldest_job_age_seconds",
    help: "Since the acceptance of the oldest running job; 0 without one.",
    values: ({ backlog }) => one(backlog && backlog.oldestJobMs / 1_000),
  },
  {
    name: "gatepost_entries_waiting",
    help: "Entries of running jobs that are not checked yet; beyond 2,000,000 new jobs are refused.",
    values: ({ backlog }) => one(backlog?.entries),
  },
  {
    name: "gatepost_chunks",
    help: "Chunks of running jobs: leased by a worker, or waiting for one.",
    label: "state",
    values: ({ backlog }) =>
      backlog === undefined ? {} : { waiting: backlog.waitingChunks, leased: backlog.leasedChunks },
  },
  {
    name: "gatepost_bulk_entries_per_second",
    help: "Entries that all workers checked a second, in the last seconds.",
    values: ({ backlog }) => one(backlog?.entriesPerSecond),
  },
  {
    name: "gatepost_webhooks_queued",
    help: "Webhooks not yet being sent.",
    values: ({ backlog }) => one(backlog?.queuedWebhooks),
  },
];

/**
 * What waits in the database, asked once for each scrape. With several processes each shows the same. A
 * database that does not answer leaves the figures out; it does not hold up the page.
 */
export function watchBacklog(deps: BacklogMetricsDeps): void {
  const { registry } = deps;
  let underWay: Promise<Reading> | undefined;
  const reading = (): Promise<Reading> =>
    (underWay ??= within(deps).finally(() => {
      underWay = undefined;
    }));
  for (const { name, help, label, values } of FIGURES) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const now = values(await reading());
        gauge.reset();
        // A reset gauge without labels is 0, although it was not measured.
        if (label === undefined && Object.keys(now).length === 0) gauge.remove();
        for (const [value, figure] of Object.entries(now)) {
          gauge.set(label === undefined ? {} : { [label]: value }, figure);
        }
      },
    });
  }
}

async function within({ read, answers, clock }: BacklogMetricsDeps): Promise<Reading> {
  const startMs = clock.monotonicMs();
  const limit = { timeoutMs: READ_WITHIN_MS, clock };
  const writes = inTime(
    answers().catch(() => false),
    { ...limit, late: false },
  );
  const backlog = await inTime(
    read().catch(() => undefined),
    { ...limit, late: undefined },
  );
  const tookMs = clock.monotonicMs() - startMs;
  return { backlog, isUp: backlog !== undefined && (await writes), tookMs };
}

/** Whether the stores answer, and what waits in the database. */
export function watchStores(
  registry: Registry,
  { store, probes }: Pick<Backing, "store" | "probes">,
  clock: Clock,
): void {
  const { db } = store.sql;
  const answers = probes.get("database") ?? (() => Promise.resolve(true));
  watchBacklog({ registry, clock, answers, read: () => readBacklog(db, clock.nowMs()) });
}
