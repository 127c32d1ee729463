import type { SimulatedClock, SimulatedServer } from "./simulated-network.ts";
import { MX } from "../../src/dns/message/records.ts";
import type { Profile } from "../../src/dns/query.ts";
import { createResolver, type Resolver } from "../../src/dns/resolver.ts";
import { SharedCap } from "../../src/dns/flow/window.ts";

export const SERVER = { host: "192.0.2.53", port: 53 };

export const OWN_MAX = 2_000;
/** Where time is simulated rather than a list. */
export const SMALL_MAX = 200;

interface ClientTerms {
  readonly max?: number;
  readonly profile?: Profile;
}

interface Client {
  readonly resolver: Resolver;
  readonly cap: SharedCap;
  /** Questions that are kept with the resolver: half of its places again wait for one. */
  readonly ahead: number;
}

export function openClient(
  server: SimulatedServer,
  clock: SimulatedClock,
  { max = OWN_MAX, profile = "bulk" }: ClientTerms = {},
): Client {
  const cap = new SharedCap(max);
  const resolver = createResolver({
    servers: [SERVER],
    profile,
    clock,
    random: (count) => new Uint8Array(count),
    cap,
    openUdp: server.openUdp,
  });
  return { resolver, cap, ahead: 1.5 * max };
}

export interface Run {
  /** How many to ask. */
  names: number;
  settled: number;
  /** By when 95 % were settled. */
  measuredMs: number;
  found: number;
  /** Timeouts of names that are not dead cannot be told apart here; they are counted against the dead share. */
  timeouts: number;
  refusals: number;
}

/** Keeps `ahead` questions with the resolver until `names` are settled. */
export function start(client: Client, clock: SimulatedClock, names: number, first = 0): Run {
  const run: Run = { names, settled: 0, measuredMs: Infinity, found: 0, timeouts: 0, refusals: 0 };
  let asked = 0;
  const next = (): void => {
    if (asked >= run.names) return;
    const name = `d${String(first + asked)}.example`;
    asked += 1;
    client.resolver.ask({ name, kind: MX }, (reply) => {
      run.settled += 1;
      if (run.settled === Math.floor(names * 0.95)) run.measuredMs = clock.monotonicMs();
      if (reply.kind === "found") run.found += 1;
      else if (reply.kind === "unknown" && reply.why === "timeout") run.timeouts += 1;
      else run.refusals += 1;
      next();
    });
  };
  for (let count = 0; count < client.ahead; count += 1) next();
  return run;
}

/** Closes the resolver, which answers what is open; nothing more is asked. */
export function end({ resolver }: Client, run: Run): void {
  run.names = 0;
  resolver.close();
}
