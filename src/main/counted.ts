import type { HttpMetrics } from "../base/metrics.ts";

/** Counts of this process since its start. */
export interface ProcessCounts {
  requests: number;
  refused: number;
  hookCalls: number;
  failedOpen: number;
}

export const nothingCounted = (): ProcessCounts => ({
  requests: 0,
  refused: 0,
  hookCalls: 0,
  failedOpen: 0,
});

/** Counts the requests of the API on their way to the metrics. */
export const countedRequests = (http: HttpMetrics, counted: ProcessCounts): HttpMetrics => ({
  observe(route, method, status, durationMs) {
    counted.requests += 1;
    http.observe(route, method, status, durationMs);
  },
  refused(code) {
    counted.refused += 1;
    http.refused(code);
  },
});
