import { Counter, Gauge, type Registry } from "prom-client";
import type { ResourceName } from "../../base/resources.ts";
import type { ShareFigures } from "../../base/shares.ts";

type Figures = ReadonlyMap<ResourceName, ShareFigures>;

/** How much of every shared resource is in use, and how much of it by its largest owner. */
export function watchShares(registry: Registry, read: () => Figures): void {
  let figures: Figures = new Map();
  const used: Gauge = new Gauge({
    name: "gatepost_share_used_ratio",
    help: "Part of a shared resource that is in use, 0 to 1.",
    labelNames: ["resource"],
    registers: [registry],
    collect() {
      figures = read(); // once a scrape, in the metric that is collected first
      for (const [resource, { used: now, total }] of figures) used.set({ resource }, now / total);
    },
  });
  gauge(registry, {
    name: "gatepost_share_largest_owner_ratio",
    help: "Part of a shared resource that one owner held at most since the last scrape, 0 to 1.",
    value: ({ largest, total }) => largest / total,
    figures: () => figures,
  });
  gauge(registry, {
    name: "gatepost_share_waiting",
    help: "Requests that wait for their owner's turn, by resource.",
    value: ({ waiting }) => waiting,
    figures: () => figures,
  });
  countRefusals(registry, () => figures);
}

interface GaugeOrder {
  readonly name: string;
  readonly help: string;
  readonly value: (figures: ShareFigures) => number;
  readonly figures: () => Figures;
}

function gauge(registry: Registry, { name, help, value, figures }: GaugeOrder): void {
  const made: Gauge = new Gauge({
    name,
    help,
    labelNames: ["resource"],
    registers: [registry],
    collect() {
      for (const [resource, now] of figures()) made.set({ resource }, value(now));
    },
  });
}

function countRefusals(registry: Registry, figures: () => Figures): void {
  const refused: Counter = new Counter({
    name: "gatepost_share_refused_total",
    help: 'Work that found no room, by resource and reason: "owner" (over its share), "all" (all is full) or "reclaimed" (ended for an owner with less).',
    labelNames: ["resource", "why"],
    registers: [registry],
    collect() {
      refused.reset();
      for (const [resource, now] of figures()) {
        refused.inc({ resource, why: "owner" }, now.refused.owner);
        refused.inc({ resource, why: "all" }, now.refused.all);
        refused.inc({ resource, why: "reclaimed" }, now.reclaimed);
      }
    },
  });
}
