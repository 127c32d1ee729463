import { Counter, Gauge, type Registry } from "prom-client";
import type { ListMetrics } from "../../ports/list-refresh.ts";

/** Names in use by list, the time of the copy in use, and what each fetch came to. */
export function createListMetrics(registry: Registry): ListMetrics {
  const registers = [registry];
  const names = new Gauge({
    name: "gatepost_list_names",
    help: "Names in use, by list.",
    labelNames: ["list"],
    registers,
  });
  const fetched = new Gauge({
    name: "gatepost_list_fetched_timestamp_seconds",
    help: "When the copy in use was fetched; 0 for one that came with the program.",
    labelNames: ["list"],
    registers,
  });
  const outcomes = new Counter({
    name: "gatepost_list_fetches_total",
    help: 'Fetches by list and what they came to: "accepted", "unchanged" or why they were refused.',
    labelNames: ["list", "outcome"],
    registers,
  });
  return {
    refreshed: ({ id, kind, why }) => outcomes.inc({ list: id, outcome: why ?? kind }),
    inUse(status) {
      for (const { id, names: count, fetchedAtMs = 0 } of status) {
        names.set({ list: id }, count);
        fetched.set({ list: id }, fetchedAtMs / 1_000);
      }
    },
  };
}
