import { readFileSync } from "node:fs";
import { createDnsLookup, type DnsLookup } from "../../adapters/dns/lookup.ts";
import type { Profile } from "../../adapters/dns/patience.ts";
import { SharedCap } from "../../adapters/dns/shared-cap.ts";
import type { ServerAddress } from "../../adapters/dns/transport/server-address.ts";
import { readResolvConf, underWayMaxFor } from "../../adapters/dns/transport/system-resolvers.ts";
import { type Machine, systemMachine } from "../process/machine.ts";
import type { Config } from "../settings/config.ts";

type DnsConfig = Pick<Config, "dnsServers">;

/** One cap for each set of servers, whatever the process opens to ask them. */
const caps = new WeakMap<Machine, Map<string, SharedCap>>();

/** The process's cap for these servers. */
export function dnsCap(config: DnsConfig, machine: Machine): SharedCap {
  const servers = serversOf(config);
  const key = JSON.stringify(servers);
  const ofMachine = caps.get(machine) ?? new Map<string, SharedCap>();
  const cap = ofMachine.get(key) ?? SharedCap.open(underWayMaxFor(servers));
  caps.set(machine, ofMachine.set(key, cap));
  return cap;
}

/** For the bulk thread: the cap of the thread that started it. */
export function joinDnsCap(config: DnsConfig, memory: SharedArrayBuffer): SharedCap {
  return SharedCap.join(underWayMaxFor(serversOf(config)), memory);
}

export interface DnsOptions {
  /** The process's unless given. */
  readonly cap?: SharedCap | undefined;
  readonly machine?: Machine;
}

/** A DNS client with its own sockets and cache. */
export function openDns(
  config: DnsConfig,
  profile: Profile,
  { machine = systemMachine, cap = dnsCap(config, machine) }: DnsOptions = {},
): DnsLookup {
  const { clock, ids } = machine;
  const random = (count: number): Uint8Array => ids.bytes(count);
  const servers = serversOf(config);
  const resolver = machine.openResolver({ servers, profile, clock, random, cap });
  return createDnsLookup(resolver, { clock });
}

function serversOf({ dnsServers }: DnsConfig): readonly ServerAddress[] {
  if (dnsServers !== undefined) return dnsServers;
  try {
    return readResolvConf(readFileSync("/etc/resolv.conf", "utf8"));
  } catch {
    return readResolvConf(""); // no such file: resolv.conf(5) gives the default
  }
}
