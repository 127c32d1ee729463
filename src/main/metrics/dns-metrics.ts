import { Gauge, type Registry } from "prom-client";
import type { Trust } from "../../adapters/dns/trust/trust.ts";
import type { DnsLookup } from "../../adapters/dns/lookup.ts";

/** Every figure of the DNS client as `gatepost_dns_<name>`, read when the page is asked for. */
export function watchDns(
  registry: Registry,
  dns: Pick<DnsLookup, "stats">,
  trust: Pick<Trust, "stats"> | undefined,
): void {
  const suspect: Gauge = new Gauge({
    name: "gatepost_dns_suspect",
    help: '1 while the resolver\'s answers are not trusted; its "no" then counts as no answer.',
    registers: [registry],
    collect: () => suspect.set(trust?.stats().suspect === undefined ? 0 : 1),
  });
  const figures = new Gauge({
    name: "gatepost_dns",
    help: "Figures of the DNS client: counters since the start, and the gauges window, under_way, unsettled and cache_size.",
    labelNames: ["figure"],
    registers: [registry],
    collect() {
      const { cache, unknown: others, ...counters } = dns.stats();
      const unknown = { ...others, suspect: trust?.stats().withheld ?? 0 };
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
