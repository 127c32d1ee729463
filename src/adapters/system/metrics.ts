import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { HttpMetrics, MetricsPage } from "../../ports/metrics.ts";

export interface Metrics {
  readonly http: HttpMetrics;
  readonly page: MetricsPage;
  /** For further figures; everything in it is on the page. */
  readonly registry: Registry;
}

/** From a cached answer to the longest a premium check may take. */
const LATENCY_BUCKETS_SECONDS = [0.001, 0.005, 0.015, 0.05, 0.15, 0.5, 1.5, 5, 10, 30];

/** Requests by route, method and status with their latency, and the process's own figures. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const seconds = new Histogram({
    name: "gatepost_http_request_duration_seconds",
    help: "Time to the answer by route, method and status; its _count is the number of requests.",
    labelNames: ["route", "method", "status"],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [registry],
  });
  // The labels are few, and looking up their child costs more than observing.
  const children = new Map<string, { observe(value: number): void }>();
  return {
    http: {
      observe(route, method, status, durationMs) {
        const key = `${route} ${method} ${status}`;
        let child = children.get(key);
        if (child === undefined) {
          child = seconds.labels(route, method, String(status));
          children.set(key, child);
        }
        child.observe(durationMs / 1_000);
      },
    },
    page: { contentType: registry.contentType, text: () => registry.metrics() },
    registry,
  };
}
