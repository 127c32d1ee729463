import type { Registry } from "prom-client";
import { readBacklog } from "../../bulk/backlog.ts";
import type { Clock } from "../../base/clock.ts";
import type { Backing } from "../parts/backing/backing.ts";
import { watchBacklog } from "./backlog-metrics.ts";

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
