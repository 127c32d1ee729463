import { Gauge, type Registry } from "prom-client";
import type { DnsLookup, DnsStats } from "../../dns/lookup.ts";
import type { Trust, TrustStats } from "../../dns/trust/trust.ts";

/** What is known of DNS clients and of trust in their resolver, in one thread. */
export interface DnsFigures {
  /** By the client's name. */
  readonly clients: Readonly<Record<string, DnsStats>>;
  readonly trust: TrustStats | undefined;
}

interface ServerDns {
  readonly checker: { readonly dns: DnsLookup; readonly trust: Trust | undefined };
  /** For learning. */
  readonly dns: DnsLookup;
  /** `figures`: where this process has a bulk thread. */
  readonly bulk: {
    readonly figures?: (() => { readonly dns: DnsFigures } | undefined) | undefined;
  };
}

/** Of a server's main thread and, once it has started, of its bulk thread. */
export const serverDns = ({
  checker,
  dns,
  bulk,
}: ServerDns): readonly (DnsFigures | undefined)[] => [
  {
    clients: { single: checker.dns.stats(), learning: dns.stats() },
    trust: checker.trust?.stats(),
  },
  bulk.figures?.()?.dns,
];

/** Every figure of every DNS client as `gatepost_dns`, read when the page is asked for. `read`: one for each thread. */
export function watchDns(
  registry: Registry,
  read: () => readonly (DnsFigures | undefined)[],
): void {
  const suspect: Gauge = new Gauge({
    name: "gatepost_dns_suspect",
    help: '1 while the resolver\'s answers are not trusted; its "no" then counts as no answer.',
    registers: [registry],
    collect: () => suspect.set(read().some((each) => each?.trust?.suspect !== undefined) ? 1 : 0),
  });
  const figures = new Gauge({
    name: "gatepost_dns",
    help: "Figures of the DNS clients: counters since the start, and the gauges window, under_way, unsettled and cache_size.",
    labelNames: ["client", "figure"],
    registers: [registry],
    collect() {
      for (const [client, figure, value] of read().flatMap((thread) => rowsOf(thread))) {
        figures.set({ client, figure }, value);
      }
    },
  });
}

type Row = readonly [client: string, figure: string, value: number];

/** What trust withheld is counted with the first client of its thread. */
function rowsOf(thread: DnsFigures | undefined): readonly Row[] {
  if (thread === undefined) return [];
  const rows = Object.entries(thread.clients).flatMap(([client, stats]) =>
    figuresOf(stats).map(([figure, value]): Row => [client, figure, value]),
  );
  const [client = "none"] = Object.keys(thread.clients);
  if (thread.trust === undefined) return rows;
  return [...rows, [client, "unknown_suspect", thread.trust.withheld]];
}

function figuresOf({ cache, unknown, ...counters }: DnsStats): [name: string, value: number][] {
  const all = { ...counters, ...prefixed("unknown", unknown), ...prefixed("cache", cache) };
  return Object.entries(all).map(([name, value]) => [snake(name), value]);
}

function prefixed(prefix: string, figures: object): Readonly<Record<string, number>> {
  const pairs = Object.entries(figures) as [string, number][];
  return Object.fromEntries(pairs.map(([name, value]) => [`${prefix}_${name}`, value]));
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
