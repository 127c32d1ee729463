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
  return {
    observe({ route, method, status }, durationMs) {
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
      const seconds = durationMs / 1_000;
      let at = 0;
      while (seconds > (boundsSeconds[at] ?? Infinity)) at += 1;
      row.counts[at] = (row.counts[at] ?? 0) + 1;
      row.sumSeconds += seconds;
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
