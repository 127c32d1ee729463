import { Gauge, type Registry } from "prom-client";
import type { DnsLookup } from "../../adapters/dns/lookup.ts";

/** Every figure of the DNS client as `gatepost_dns_<name>`, read when the page is asked for. */
export function watchDns(registry: Registry, dns: Pick<DnsLookup, "stats">): void {
  const figures = new Gauge({
    name: "gatepost_dns",
    help: "Figures of the DNS client: counters since the start, and the gauges window, under_way, unsettled and cache_size.",
    labelNames: ["figure"],
    registers: [registry],
    collect() {
      const { cache, unknown, ...counters } = dns.stats();
      const all = { ...counters, ...prefixed("unknown", unknown), ...prefixed("cache", cache) };
      for (const [name, value] of Object.entries(all)) figures.set({ figure: snake(name) }, value);
    },
  });
}

function prefixed(prefix: string, figures: object): Readonly<Record<string, number>> {
  const pairs = Object.entries(figures) as [string, number][];
  return Object.fromEntries(pairs.map(([name, value]) => [`${prefix}_${name}`, value]));
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
