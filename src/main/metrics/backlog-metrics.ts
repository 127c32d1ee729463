import { Gauge, type Registry } from "prom-client";
import type { Backlog } from "../../adapters/sql/bulk/backlog.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";

export interface BacklogMetricsDeps {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly read: () => Promise<Backlog>;
}

/** A scrape waits no longer for the database. */
const READ_WITHIN_MS = 2_000;

interface Reading {
  readonly backlog: Backlog | undefined;
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
    help: "1 when the database answered this scrape within 2 s.",
    values: ({ backlog }) => one(backlog === undefined ? 0 : 1),
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
    help: "What all workers together checked of late.",
    values: ({ backlog }) => one(backlog?.entriesPerSecond),
  },
  {
    name: "gatepost_webhooks_queued",
    help: "Webhooks that nobody has begun to send.",
    values: ({ backlog }) => one(backlog?.queuedWebhooks),
  },
];

/**
 * What waits in the database, asked once for each scrape. With several processes each shows the same. A
 * database that does not answer leaves the figures out; it does not hold up the page.
 */
export function watchBacklog({ registry, clock, read }: BacklogMetricsDeps): void {
  let underWay: Promise<Reading> | undefined;
  const reading = (): Promise<Reading> =>
    (underWay ??= within(read, clock).finally(() => {
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
        // A reset gauge without labels is 0, which nobody measured.
        if (label === undefined && Object.keys(now).length === 0) gauge.remove();
        for (const [value, figure] of Object.entries(now)) {
          gauge.set(label === undefined ? {} : { [label]: value }, figure);
        }
      },
    });
  }
}

async function within(read: () => Promise<Backlog>, clock: Clock): Promise<Reading> {
  const startMs = clock.monotonicMs();
  const asked = read().catch(() => undefined);
  const backlog = await inTime(asked, { timeoutMs: READ_WITHIN_MS, late: undefined, clock });
  return { backlog, tookMs: clock.monotonicMs() - startMs };
}
