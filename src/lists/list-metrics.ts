import { Counter, Gauge, type Registry } from "prom-client";
import type { ListMetrics } from "./feed-refresh.ts";

/** Names in use by list, the times of the copy in use and of its last confirmation, and what each fetch came to. */
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
  const confirmed = new Gauge({
    name: "gatepost_list_confirmed_timestamp_seconds",
    help: "When the source last gave the copy in use or said that it is the newest; 0 for never.",
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
    stand(status) {
      for (const { id, names: count, fetchedAtMs = 0, confirmedAtMs = 0 } of status) {
        confirmed.set({ list: id }, confirmedAtMs / 1_000);
        names.set({ list: id }, count);
        fetched.set({ list: id }, fetchedAtMs / 1_000);
      }
    },
  };
}
