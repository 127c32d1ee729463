import type { Usage } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import { duration } from "../app/numbers.ts";

export interface LatencyRow {
  readonly name: string;
  readonly requests: number;
  /** Of all requests, 0 to 1. */
  readonly share: number;
}

/** Requests by how long they took, over all days. */
export function latencyRows({ days, latency_edges_ms: edges }: Usage): readonly LatencyRow[] {
  const counts = [...edges, Infinity].map((_, at) =>
    days.reduce((total, { latency }) => total + (latency[at] ?? 0), 0),
  );
  const all = Math.max(
    1,
    counts.reduce((total, requests) => total + requests, 0),
  );
  return counts.map((requests, at) => ({
    name: nameOf(edges, at),
    requests,
    share: requests / all,
  }));
}

function nameOf(edges: readonly number[], at: number): string {
  const below = edges[at - 1];
  const upTo = edges[at];
  if (upTo === undefined) return t("over {time}", { time: duration(below ?? 0) });
  return t("up to {time}", { time: duration(upTo) });
}

/** The upper edge below which this share of all requests was answered; undefined without requests or above all edges. */
export function quantile(
  days: readonly (readonly number[])[],
  edges: readonly number[],
  share: number,
): number | undefined {
  const counts = [...edges, Infinity].map((_, at) =>
    days.reduce((sum, latency) => sum + (latency[at] ?? 0), 0),
  );
  const all = counts.reduce((sum, requests) => sum + requests, 0);
  let seen = 0;
  const bucket = counts.findIndex((requests) => (seen += requests) >= all * share);
  return all === 0 ? undefined : edges[bucket];
}
