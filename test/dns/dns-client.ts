import { randomBytes } from "node:crypto";
import { createDnsLookup, type DnsLookup } from "../../src/dns/lookup.ts";
import { createResolver, type ResolverOptions } from "../../src/dns/resolver.ts";
import { SharedCap } from "../../src/dns/flow/window.ts";
import { systemClock } from "../../src/base/clock.ts";

/** The real client with real servers; by default interactive and on the system clock. */
export function dnsClient(
  servers: ResolverOptions["servers"],
  options: Partial<ResolverOptions> & { readonly windowMax?: number } = {},
): DnsLookup {
  const { clock = systemClock, windowMax = 2_000 } = options;
  const resolver = createResolver({
    servers,
    profile: "interactive",
    clock,
    random: (count) => randomBytes(count),
    cap: new SharedCap(windowMax),
    ...options,
  });
  return createDnsLookup(resolver, { clock });
}
