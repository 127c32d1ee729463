import { Gauge, type Registry } from "prom-client";
import { readBacklog } from "../../adapters/sql/bulk/backlog.ts";
import type { Probe } from "../../http/system/readiness.ts";
import type { Clock } from "../../ports/process/clock.ts";
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
  const redis = probes.get("redis");
  if (redis !== undefined) watchRedis(registry, redis);
}

/** Checks still work while Redis is down, so only this metric shows it to an operator. */
export function watchRedis(registry: Registry, answers: Probe): void {
  const gauge: Gauge = new Gauge({
    name: "gatepost_redis_up",
    help: "1 when Redis answered this scrape and took what was counted last.",
    registers: [registry],
    async collect() {
      gauge.set((await answers()) ? 1 : 0);
    },
  });
}
