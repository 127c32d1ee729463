import { setImmediate as nextTurn } from "node:timers/promises";
import { Counter, Registry, collectDefaultMetrics } from "prom-client";

interface LatencyHistogram {
  readonly observe: (route: string, method: string, status: number, durationMs: number) => void;
  text(): string;
}

interface HistogramRow {
  readonly labels: string;
  readonly counts: number[];
  sumSeconds: number;
}

export function latencyHistogram(
  name: string,
  help: string,
  boundsSeconds: readonly number[],
): LatencyHistogram {
  const rows = new Map<string, HistogramRow>();
  let last: { route: string; method: string; status: number; row: HistogramRow } | undefined;
  return {
    observe(route, method, status, durationMs) {
      // Most requests are like the one before, and need no key made and hashed.
      if (last?.route === route && last.method === method && last.status === status) {
        count(last.row, durationMs / 1_000, boundsSeconds);
        return;
      }
      const key = `${route} ${method} ${status}`;
      let row = rows.get(key);
      if (row === undefined) {
        const labels = `route="${route}",method="${method}",status="${status}"`;
        row = {
          labels,
          counts: Array.from({ length: boundsSeconds.length + 1 }, () => 0),
          sumSeconds: 0,
        };
        rows.set(key, row);
      }
      last = { route, method, status, row };
      count(row, durationMs / 1_000, boundsSeconds);
    },
    text: () =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} histogram`,
        ...[...rows.values()].flatMap((row) => linesOf(name, row, boundsSeconds)),
        "",
      ].join("\n"),
  };
}

function count(row: HistogramRow, seconds: number, boundsSeconds: readonly number[]): void {
  let at = 0;
  while (seconds > (boundsSeconds[at] ?? Infinity)) at += 1;
  row.counts[at] = (row.counts[at] ?? 0) + 1;
  row.sumSeconds += seconds;
}

function linesOf(
  name: string,
  row: HistogramRow,
  boundsSeconds: readonly number[],
): readonly string[] {
  const { labels, counts, sumSeconds } = row;
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    const bound = boundsSeconds[at]?.toString() ?? "+Inf";
    return `${name}_bucket{${labels},le="${bound}"} ${total}`;
  });
  return [...buckets, `${name}_sum{${labels}} ${sumSeconds}`, `${name}_count{${labels}} ${total}`];
}

export interface Metrics {
  readonly http: HttpMetrics;
  readonly page: MetricsPage;
  readonly registry: Registry;
}

const LATENCY_BOUNDS_SECONDS = [0.001, 0.005, 0.015, 0.05, 0.15, 0.5, 1.5, 5, 10, 30];

export const REQUESTS = {
  name: "gatepost_http_request_duration_seconds",
  help: "Time to the answer by route, method and status; its _count is the number of requests.",
};

/** Requests do not go through prom-client, which hashes all labels for every observation: a tenth of a cached answer. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = latencyHistogram(REQUESTS.name, REQUESTS.help, LATENCY_BOUNDS_SECONDS);
  const refusals = new Counter({
    name: "gatepost_refusals_total",
    help: "Refused requests of the API by the code of docs/errors.md.",
    labelNames: ["code"],
    registers: [registry],
  });
  let rendering: Promise<string> | undefined;
  const render = async (): Promise<string> => {
    await nextTurn(); // whoever asks in this turn gets the same page: making it takes milliseconds
    return `${await registry.metrics()}\n${requests.text()}`;
  };
  return {
    http: {
      observe: requests.observe,
      refused: (code) => refusals.inc({ code }),
    },
    page: {
      contentType: registry.contentType,
      text: () => (rendering ??= render().finally(() => (rendering = undefined))),
    },
    registry,
  };
}

export interface HttpMetrics {
  /** `route` comes from our own short list, `method` is one we serve or "other". */
  observe(route: string, method: string, status: number, durationMs: number): void;
  refused(code: string): void;
}

export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}
