/** Counts durations by labels, in Prometheus' text format. An observation costs one map look-up. */
export interface LatencyHistogram {
  observe(labels: LatencyLabels, durationMs: number): void;
  /** The lines of the metric, with its HELP and TYPE. */
  text(): string;
}

/** Values come from our own short lists, so they need no escaping and their number is bounded. */
export interface LatencyLabels {
  readonly route: string;
  readonly method: string;
  readonly status: number;
}

interface Row {
  readonly labels: string;
  /** How many durations fell into each bucket alone; the last one is beyond all bounds. */
  readonly counts: number[];
  sumSeconds: number;
}

/** `boundsSeconds` ascend. */
export function latencyHistogram(
  name: string,
  help: string,
  boundsSeconds: readonly number[],
): LatencyHistogram {
  const rows = new Map<string, Row>();
  let last: (LatencyLabels & { readonly row: Row }) | undefined;
  return {
    observe({ route, method, status }, durationMs) {
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

function count(row: Row, seconds: number, boundsSeconds: readonly number[]): void {
  let at = 0;
  while (seconds > (boundsSeconds[at] ?? Infinity)) at += 1;
  row.counts[at] = (row.counts[at] ?? 0) + 1;
  row.sumSeconds += seconds;
}

function linesOf(name: string, row: Row, boundsSeconds: readonly number[]): readonly string[] {
  const { labels, counts, sumSeconds } = row;
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    const bound = boundsSeconds[at]?.toString() ?? "+Inf";
    return `${name}_bucket{${labels},le="${bound}"} ${total}`;
  });
  return [...buckets, `${name}_sum{${labels}} ${sumSeconds}`, `${name}_count{${labels}} ${total}`];
}
