import { readFileSync } from "node:fs";
import { type DnsLookup, type LookupOptions, createDnsLookup } from "../../dns/lookup.ts";
import type { Profile } from "../../dns/flow/patience.ts";
import { SharedCap } from "../../dns/flow/shared-cap.ts";
import {
  type ServerAddress,
  readResolvConf,
  underWayMaxFor,
} from "../../dns/transport/system-resolvers.ts";
import { Trust, builtInCanaries, namedCanaries } from "../../dns/trust/trust.ts";
import type { Log } from "../../base/log.ts";
import type { Machine } from "../process/machine.ts";
import type { Config } from "../settings/config.ts";

type DnsConfig = Pick<Config, "dnsServers"> & Partial<Pick<Config, "cacheMb">>;

const MIB = 1_048_576;

/** Parts of GATEPOST_CACHE_MB, in sixteenths. Finished answers take 4; learning and the bulk thread are both "bulk". */
const CACHE_SIXTEENTHS: Readonly<Record<Profile, number>> = {
  interactive: 4,
  bulk: 3,
  again: 1,
  probe: 0,
};

/** What of a machine DNS needs: the library has no more. */
export type DnsMachine = Pick<Machine, "clock" | "ids" | "openResolver">;

interface TrustProcess {
  readonly config: Pick<Config, "dnsServers" | "dnsCanaries">;
  readonly machine: DnsMachine;
  readonly log: Log;
  /** The process's unless given. */
  readonly cap?: SharedCap | undefined;
}

/** One cap for each set of servers, whatever the process opens to ask them. */
const caps = new WeakMap<DnsMachine, Map<string, SharedCap>>();

/** The process's cap for these servers. */
export function dnsCap(config: DnsConfig, machine: DnsMachine): SharedCap {
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

/** Watches whether the resolver tells the truth; undefined when the operator switched it off. */
export function openTrust({ config, machine, log, cap }: TrustProcess): Trust | undefined {
  const { dnsCanaries } = config;
  if (dnsCanaries?.length === 0) return undefined;
  const { clock } = machine;
  const servers = serversOf(config);
  const random = (count: number): Uint8Array => machine.ids.bytes(count);
  return new Trust({
    resolver: machine.openResolver({
      servers,
      profile: "probe",
      clock,
      random,
      cap: cap ?? dnsCap(config, machine),
    }),
    random,
    clock,
    log,
    servers: servers.map(textOf).join(", "),
    canaries: dnsCanaries === undefined ? builtInCanaries() : namedCanaries(dnsCanaries),
  });
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(":") ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;

export interface DnsOptions {
  /** The process's unless given. */
  readonly cap?: SharedCap | undefined;
  readonly machine: DnsMachine;
  readonly trust?: Trust | undefined;
  readonly questions?: LookupOptions["questions"];
}

/** A DNS client with its own sockets and cache. */
export function openDns(
  config: DnsConfig,
  profile: Profile,
  { machine, cap = dnsCap(config, machine), trust, questions }: DnsOptions,
): DnsLookup {
  const { clock, ids } = machine;
  const random = (count: number): Uint8Array => ids.bytes(count);
  const servers = serversOf(config);
  const resolver = machine.openResolver({ servers, profile, clock, random, cap });
  const { cacheMb } = config;
  const cacheOctets =
    cacheMb === undefined ? undefined : (cacheMb * MIB * CACHE_SIXTEENTHS[profile]) / 16;
  return createDnsLookup(resolver, { clock, trust, cacheOctets, questions });
}

function serversOf({ dnsServers }: DnsConfig): readonly ServerAddress[] {
  if (dnsServers !== undefined) return dnsServers;
  try {
    return readResolvConf(readFileSync("/etc/resolv.conf", "utf8"));
  } catch {
    return readResolvConf(""); // no such file: resolv.conf(5) gives the default
  }
}
