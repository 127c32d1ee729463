import { randomBytes } from "node:crypto";
import { createDnsLookup, type DnsLookup } from "../../src/adapters/dns/lookup.ts";
import { createResolver, type ResolverOptions } from "../../src/adapters/dns/resolver.ts";
import { systemClock } from "../../src/adapters/system/clock.ts";

/** The real client, asking real servers; interactive and on the machine's clock unless told. */
export function dnsClient(
  servers: ResolverOptions["servers"],
  options: Partial<ResolverOptions> = {},
): DnsLookup {
  const { clock = systemClock } = options;
  const resolver = createResolver({
    servers,
    profile: "interactive",
    clock,
    random: (count) => randomBytes(count),
    windowMax: 2_000,
    ...options,
  });
  return createDnsLookup(resolver, { clock });
}
